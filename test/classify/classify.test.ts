import { expect, test } from "vitest";
import { classify } from "../../src/classify/classify.ts";
import { isPassedByForce } from "../../src/classify/reason.ts";
import { answered, QUESTIONS, unanswered, type Answers } from "../../src/model/evidence.ts";
import type { Registration } from "../../src/model/worktree.ts";
import { registration, scanned } from "../helpers/evidence.ts";

function verdict(given: Partial<Answers>, standing: Registration = registration("a1"), discardIgnored = false) {
  const { worktree, evidence } = scanned("a1", given, standing);
  const { class: name, reasons } = classify(worktree, evidence, { discardIgnored });
  return { class: name, codes: reasons.map(({ code }) => code) };
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

test("every reason is told, never only the first", () => {
  expect(verdict(OBJECTIONS, registration("a1", "locked", "why")).codes).toEqual([
    "locked",
    ...Object.keys(OBJECTIONS),
  ]);
});

test.each(QUESTIONS)("no answer to %s holds", (question) => {
  expect(verdict({ [question]: unanswered("fatal: no") })).toEqual({ class: "held", codes: ["could-not-tell"] });
});

test("one failure that leaves several questions open is one reason, which names them", () => {
  const open = unanswered("fatal: bad index");
  const { worktree, evidence } = scanned("a1", {
    uncommitted: open,
    ignored: open,
    unpushed: unanswered("fatal: other"),
  });
  expect(classify(worktree, evidence, { discardIgnored: false }).reasons.map(({ detail }) => detail)).toEqual([
    "uncommitted, ignored: fatal: bad index",
    "unpushed: fatal: other",
  ]);
});

test("leave to discard ignored files drops that reason and no other", () => {
  expect(verdict(OBJECTIONS, registration("a1"), true).codes).not.toContain("ignored");
  expect(verdict({ ignored: OBJECTIONS.ignored }, registration("a1"), true)).toEqual({ class: "prunable", codes: [] });
  expect(verdict({ ignored: unanswered("fatal") }, registration("a1"), true).codes).toEqual(["could-not-tell"]);
});

test("force passes just what SPEC says, and not knowing only where the archive makes up for it", () => {
  const passed = (given: Partial<Answers>, standing = registration("a1")) => {
    const { worktree, evidence } = scanned("a1", given, standing);
    return classify(worktree, evidence, { discardIgnored: false }).reasons.every(isPassedByForce);
  };
  const pairs = Object.entries(OBJECTIONS).map(([code, answer]) => [code, passed({ [code]: answer })]);
  expect(Object.fromEntries(pairs)).toEqual({
    uncommitted: true,
    ignored: true,
    "in-progress": true,
    unpushed: true,
    "embedded-repository": false,
    "in-use": false,
    "mount-point": false,
    "not-removable": false,
  });
  expect(passed({}, registration("a1", "locked"))).toBe(true);
  expect(passed({}, registration("a1", "live"))).toBe(false);
  const open = QUESTIONS.filter((question) => passed({ [question]: unanswered("fatal") }));
  expect(open).toEqual(["uncommitted", "ignored", "in-progress", "unpushed"]);
});
