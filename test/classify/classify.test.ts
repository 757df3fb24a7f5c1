import { expect, test } from "vitest";
import { classify, classifyStray, classOf } from "../../src/classify/classify.ts";
import { reason, type Reason } from "../../src/classify/reason.ts";
import { answered, MAX_NAMED, QUESTIONS, unanswered, type Answers } from "../../src/model/evidence.ts";
import type { Head, Registration } from "../../src/model/worktree.ts";
import { registration, scanned, stray } from "../helpers/evidence.ts";

const NO_LEAVE = { discardIgnored: false };
const UNREADABLE: Registration = { state: "unreadable", id: "a1", words: "its admin directory is a link" };

function verdict(given: Partial<Answers>, standing: Registration = registration("a1"), discardIgnored = false) {
  const { worktree, evidence } = scanned("a1", given, standing);
  const { class: name, reasons } = classify(worktree, evidence, { discardIgnored });
  return { class: name, codes: reasons.map(({ code }) => code) };
}

/** Returns the one reason that a worktree stays for one answer. */
function onlyReason(given: Partial<Answers>, standing: Registration = registration("a1"), head?: Head | null): Reason {
  const { worktree, evidence } = scanned("a1", given, standing);
  const { reasons } = classify(worktree, head === undefined ? evidence : { ...evidence, head }, NO_LEAVE);
  const [first, ...others] = reasons;
  if (first === undefined || others.length > 0) throw new Error(`expected one reason, got ${reasons.length}`);
  return first;
}

test.each([
  ["registered and clear", registration("a1"), "prunable", []],
  ["forgotten and clear", { state: "none" }, "forgotten", []],
  ["live and clear", registration("a1", "live"), "held", ["live-registration"]],
  ["locked and clear", registration("a1", "locked"), "locked", ["locked"]],
] as const)("%s", (_, standing, name, codes) => {
  expect(verdict({}, standing)).toEqual({ class: name, codes });
});

const OBJECTIONS = {
  uncommitted: answered(["notes.md"]),
  ignored: answered({ paths: [".env"], files: 1, bytes: 4096 }),
  "in-progress": answered(["merge"]),
  unpushed: answered({ commits: ["b".repeat(40)] }),
  "embedded-repository": answered(["scratch/tool"]),
  "in-use": answered([{ pid: 42, name: "sleep" }]),
  "mount-point": answered([""]),
  "not-removable": answered([{ path: "src", owner: "root" }]),
} satisfies Partial<Answers>;

test.each(Object.entries(OBJECTIONS))("%s alone holds, and is the only reason", (code, answer) => {
  expect(verdict({ [code]: answer })).toEqual({ class: "held", codes: [code] });
});

test.each(Object.entries(OBJECTIONS))("%s holds what git forgot too", (code, answer) => {
  expect(verdict({ [code]: answer }, { state: "none" })).toEqual({ class: "held", codes: [code] });
});

test.each([
  [registration("a1"), "held", []],
  [registration("a1", "live"), "held", ["live-registration"]],
  [registration("a1", "locked", "why"), "locked", ["locked"]],
  [{ state: "none" }, "held", []],
] as const)("every reason is told, never only the first: %j", (standing, name, first) => {
  expect(verdict(OBJECTIONS, standing)).toEqual({ class: name, codes: [...first, ...Object.keys(OBJECTIONS)] });
});

test.each(QUESTIONS)("no answer to %s holds", (question) => {
  expect(verdict({ [question]: unanswered("fatal: no") })).toEqual({ class: "held", codes: ["could-not-tell"] });
});

test.each(QUESTIONS)("no answer to %s holds what is locked as locked", (question) => {
  expect(verdict({ [question]: unanswered("fatal: no") }, registration("a1", "locked"))).toEqual({
    class: "locked",
    codes: ["locked", "could-not-tell"],
  });
});

test("an answer and no answer to another question are both told", () => {
  expect(verdict({ ...OBJECTIONS, "in-use": unanswered("no /proc") }).codes).toEqual([
    "uncommitted",
    "ignored",
    "in-progress",
    "unpushed",
    "embedded-repository",
    "mount-point",
    "not-removable",
    "could-not-tell",
  ]);
});

test("a registration that cannot be read holds through the question that it leaves open", () => {
  expect(verdict({ registration: unanswered(UNREADABLE.words) }, UNREADABLE)).toEqual({
    class: "held",
    codes: ["could-not-tell"],
  });
});

test("one failure that leaves several questions open is one reason, which names them all", () => {
  const open = unanswered("fatal: bad index");
  const { worktree, evidence } = scanned("a1", {
    uncommitted: open,
    ignored: open,
    unpushed: unanswered("fatal: other"),
  });
  expect(classify(worktree, evidence, NO_LEAVE).reasons).toEqual([
    reason("could-not-tell", "uncommitted, ignored: fatal: bad index", { questions: ["uncommitted", "ignored"] }),
    reason("could-not-tell", "unpushed: fatal: other", { questions: ["unpushed"] }),
  ]);
});

test("leave to discard ignored files drops that reason and no other", () => {
  const { ignored: _, ...others } = OBJECTIONS;
  expect(verdict(OBJECTIONS, registration("a1"), true).codes).toEqual(Object.keys(others));
  expect(verdict({ ignored: OBJECTIONS.ignored }, registration("a1"), true)).toEqual({ class: "prunable", codes: [] });
});

test("leave to discard ignored files is no leave to discard what nobody could look at", () => {
  expect(verdict({ ignored: unanswered("fatal") }, registration("a1"), true).codes).toEqual(["could-not-tell"]);
});

const commit = (n: number): string => n.toString(16).padStart(40, "0");
const branch = (ref: string): Head => ({ kind: "branch", ref, commit: commit(1) });

test.each([
  [1, branch("refs/heads/team/x"), "1 commit on team/x is in no safe ref"],
  [2, branch("refs/heads/x"), "2 commits on x are in no safe ref"],
  [1, { kind: "detached", commit: commit(1) }, "1 commit on a detached HEAD is in no safe ref"],
  [1, { kind: "unborn", ref: "refs/heads/x" }, "1 commit on x is in no safe ref"],
  [1, { kind: "broken", words: "" }, "1 commit on its HEAD is in no safe ref"],
  [3, null, "3 commits on its HEAD are in no safe ref"],
] as const)("unpushed: %i on %j", (count, head, detail) => {
  const commits = Array.from({ length: count }, (_, n) => commit(n));
  expect(onlyReason({ unpushed: answered({ commits }) }, registration("a1"), head)).toEqual(
    reason("unpushed", detail, { commits }),
  );
});

/** An answer → the reason in full. */
const IN_FULL: readonly (readonly [Partial<Answers>, Reason])[] = [
  [
    { uncommitted: answered(["a", "b"]) },
    reason("uncommitted", "2 paths with uncommitted work", { paths: ["a", "b"] }),
  ],
  [
    { ignored: answered({ paths: [".env"], files: 1, bytes: 4096 }) },
    reason("ignored", "1 ignored file (4096 bytes) that exists nowhere else", { paths: [".env"] }),
  ],
  [
    { ignored: answered({ paths: ["a", "b"], files: 1234, bytes: 5 }) },
    reason("ignored", "1234 ignored files (5 bytes) that exist nowhere else", { paths: ["a", "b"] }),
  ],
  [{ "in-progress": answered(["merge", "bisect"]) }, reason("in-progress", "under way: merge, bisect")],
  [
    { "embedded-repository": answered(["a"]) },
    reason("embedded-repository", "1 git repository inside it", { paths: ["a"] }),
  ],
  [
    { "embedded-repository": answered(["a", "b"]) },
    reason("embedded-repository", "2 git repositories inside it", { paths: ["a", "b"] }),
  ],
  [
    {
      "in-use": answered([
        { pid: 42, name: "sleep" },
        { pid: 7, name: "bash" },
      ]),
    },
    reason("in-use", "in use by pid 42 (sleep), pid 7 (bash)"),
  ],
  [{ "mount-point": answered(["", "x"]) }, reason("mount-point", "something is mounted in it", { paths: [".", "x"] })],
  [
    {
      "not-removable": answered([
        { path: "priv", owner: "root" },
        { path: "", owner: "nobody" },
      ]),
    },
    reason("not-removable", "priv cannot be emptied by this user; it belongs to root", { paths: ["priv", "."] }),
  ],
  [
    { "not-removable": answered([{ path: "", owner: "root" }]) },
    reason("not-removable", "the worktree itself cannot be emptied by this user; it belongs to root", { paths: ["."] }),
  ],
];

test.each(IN_FULL)("%j is told in full", (given, expected) => {
  expect(onlyReason(given)).toEqual(expected);
});

test("content of a directory that git forgot is told as such", () => {
  expect(onlyReason({ uncommitted: answered(["a"]) }, { state: "none" })).toEqual(
    reason("uncommitted", "1 path in no commit that is safe elsewhere", { paths: ["a"] }),
  );
});

test.each([
  [null, "git holds it locked"],
  ["agent at work", "git holds it locked: agent at work"],
])("a lock's reason is told where there is one: %j", (lockReason, detail) => {
  expect(onlyReason({}, registration("a1", "locked", lockReason))).toEqual(reason("locked", detail));
});

test("a live registration is told with the path that exists", () => {
  expect(onlyReason({}, registration("a1", "live"))).toEqual(
    reason(
      "live-registration",
      "git believes in it: its recorded path /workspaces/ws/.claude/worktrees/a1 exists on this machine",
    ),
  );
});

const MANY = Array.from({ length: MAX_NAMED + 1 }, (_, n) => String(n));

test.each([
  [{ uncommitted: answered(MANY) }, "101 paths with uncommitted work"],
  [{ "embedded-repository": answered(MANY) }, "101 git repositories inside it"],
  [
    { "not-removable": answered(MANY.map((path) => ({ path, owner: "root" }))) },
    "0 cannot be emptied by this user; it belongs to root",
  ],
] as const)("no more paths are named than may be, and all are counted: %#", (given, detail) => {
  expect(onlyReason(given)).toEqual(reason(onlyReason(given).code, detail, { paths: MANY.slice(0, MAX_NAMED) }));
});

test("no more commits are named than may be, and all are counted", () => {
  const { detail, commits } = onlyReason({ unpushed: answered({ commits: MANY }) });
  expect({ detail, commits }).toEqual({
    detail: "101 commits on a1 are in no safe ref",
    commits: MANY.slice(0, MAX_NAMED),
  });
});

const SOME = [reason("uncommitted", "")];

test.each([
  [registration("a1"), [], "prunable"],
  [registration("a1"), SOME, "held"],
  [{ state: "none" }, [], "forgotten"],
  [{ state: "none" }, SOME, "held"],
  [registration("a1", "locked"), [], "locked"],
  [registration("a1", "locked"), SOME, "locked"],
  [registration("a1", "live"), [], "held"],
  [UNREADABLE, [], "held"],
] as const)("%j with reasons %j is %s", (standing, reasons, name) => {
  expect(classOf(standing, reasons)).toBe(name);
});

test("a registration without a directory and without anything that dies with it is clear", () => {
  expect(classifyStray(stray("a1"))).toEqual([]);
});

test.each([
  ["uncommitted", answered(["staged.txt"])],
  ["in-progress", answered(["rebase"])],
  ["unpushed", answered({ commits: ["b".repeat(40)] })],
  ["embedded-repository", answered([".git/modules/sub"])],
] as const)("a registration without a directory is kept for %s", (code, answer) => {
  expect(classifyStray(stray("a1", { [code]: answer })).map((one) => one.code)).toEqual([code]);
});

test.each(["registration", "uncommitted", "in-progress", "unpushed", "embedded-repository"] as const)(
  "a registration without a directory is kept where %s has no answer",
  (question) => {
    expect(classifyStray(stray("a1", { [question]: unanswered("fatal") })).map((one) => one.code)).toEqual([
      "could-not-tell",
    ]);
  },
);

test.each([
  ["locked", ["locked"]],
  ["live", ["live-registration"]],
] as const)("a registration without a directory that is %s is kept", (state, codes) => {
  expect(classifyStray(stray("a1", {}, registration("a1", state))).map((one) => one.code)).toEqual(codes);
});
