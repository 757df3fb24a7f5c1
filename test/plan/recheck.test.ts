import { expect, test } from "vitest";
import { reason, type Reason } from "../../src/classify/reason.ts";
import { answered, unanswered } from "../../src/model/evidence.ts";
import type { ScannedClone, ScannedWorktree } from "../../src/model/scan.ts";
import type { Head } from "../../src/model/worktree.ts";
import { planClone, removalsOf, type Flags, type Removal } from "../../src/plan/plan.ts";
import { recheck } from "../../src/plan/recheck.ts";
import { clone, registration, scanned, skipped } from "../helpers/evidence.ts";

const NONE: Flags = { force: false, discardIgnored: false };
const FORCE: Flags = { force: true, discardIgnored: false };
const EDITED = { uncommitted: answered(["notes.md"]) };
const AHEAD = { unpushed: answered({ commits: ["b".repeat(40)] }) };

const short = (place: string): string => place.replaceAll(".claude/worktrees/", "");

/** Approves the first removal of one world. */
function approve(world: ScannedClone, flags = NONE): Removal {
  const [removal] = removalsOf(planClone(world, flags));
  if (removal === undefined) throw new Error("nothing goes");
  return removal;
}

/** Holds what was approved of one world against another: the places that go, or of each that does not, the codes of its reasons. */
function checked(before: ScannedClone, now: ScannedClone, flags = NONE): readonly string[] | Record<string, string> {
  const result = recheck(approve(before, flags), planClone(now, flags));
  if (result.kind === "go") return result.removal.subtree.map(({ worktree }) => short(worktree.place));
  return Object.fromEntries(
    result.worktrees.map(({ place, class: name, reasons }) => [
      short(place),
      [name, ...reasons.map(({ code }) => code)].join(" "),
    ]),
  );
}

/** Returns the reasons for which the first worktree of a removal is withheld. */
function withheldFor(before: ScannedClone, now: ScannedClone, flags = NONE): readonly Reason[] {
  const result = recheck(approve(before, flags), planClone(now, flags));
  if (result.kind === "go") throw new Error("it goes");
  return result.worktrees[0]?.reasons ?? [];
}

function withHead(one: ScannedWorktree, head: Head | null): ScannedWorktree {
  return { ...one, evidence: { ...one.evidence, head } };
}

function withInode(one: ScannedWorktree, inode: number): ScannedWorktree {
  return { ...one, worktree: { ...one.worktree, identity: { device: 1, inode } } };
}

const one = (...worktrees: readonly ScannedWorktree[]): ScannedClone => clone(worktrees);
const A = scanned("a");
const moved: Head = { kind: "detached", commit: "c".repeat(40) };

test("what is as it was goes, as it is read now", () => {
  const now = planClone(one({ ...A, size: { bytes: 7, isFloor: false } }), NONE);
  const result = recheck(approve(one(A)), now);
  expect(result).toEqual({ kind: "go", removal: { root: now.worktrees[0], subtree: now.worktrees } });
});

test("what was approved may shrink", () => {
  const world = one(A, scanned("a/b"), scanned("a/b/c"), scanned("a/d"));
  expect(checked(world, one(A, scanned("a/d")))).toEqual(["a", "a/d"]);
  expect(checked(world, one(A))).toEqual(["a"]);
});

test("a reason that is gone is no objection", () => {
  const before = one(scanned("a", { ...EDITED, ...AHEAD }));
  expect(checked(before, one(scanned("a", AHEAD)), FORCE)).toEqual(["a"]);
  expect(checked(before, one(A), FORCE)).toEqual(["a"]);
});

test("a lock that was lifted is no objection", () => {
  expect(checked(one(scanned("a", {}, registration("a", "locked"))), one(A), FORCE)).toEqual(["a"]);
});

test("what lies beside the removal does not matter", () => {
  const now = clone([A, scanned("ab", EDITED), scanned("b")], [skipped("x")]);
  expect(checked(one(A), now)).toEqual(["a"]);
});

/** What an approved worktree `a` has become → what is said of it. */
const GROWN: readonly (readonly [string, ScannedClone, Record<string, string>])[] = [
  ["it is gone", one(), { a: "held could-not-tell" }],
  ["a reason came up", one(scanned("a", EDITED)), { a: "held uncommitted" }],
  ["several reasons came up", one(scanned("a", { ...EDITED, ...AHEAD })), { a: "held uncommitted unpushed" }],
  [
    "a question has no answer any more",
    one(scanned("a", { "in-use": unanswered("no /proc") })),
    { a: "held could-not-tell" },
  ],
  ["another directory took its place", one(withInode(A, 99)), { a: "held could-not-tell" }],
  ["another registration stands for it", one(scanned("a", {}, registration("z"))), { a: "held could-not-tell" }],
  ["its registration is gone", one(scanned("a", {}, { state: "none" })), { a: "held could-not-tell" }],
  ["its registration became live", one(scanned("a", {}, registration("a", "live"))), { a: "held live-registration" }],
  ["its registration was locked", one(scanned("a", {}, registration("a", "locked"))), { a: "locked locked" }],
  ["its HEAD moved", one(withHead(A, moved)), { a: "held could-not-tell" }],
  ["its HEAD broke", one(withHead(A, { kind: "broken", words: "" })), { a: "held could-not-tell" }],
  ["a skipped entry appeared inside", clone([A], [skipped("a/x")]), { a: "held nested" }],
  [
    "a worktree that stays appeared inside",
    one(A, scanned("a/b", EDITED)),
    { a: "held nested", "a/b": "held uncommitted" },
  ],
  ["a clear worktree appeared inside", one(A, scanned("a/b")), { a: "held nested", "a/b": "held could-not-tell" }],
];

test.each(GROWN)("what was approved is withheld when %s", (_, now, said) => {
  expect(checked(one(A), now)).toEqual(said);
});

test.each(GROWN)("what was approved without the flag's help is withheld with it too when %s", (_, now) => {
  expect(Array.isArray(checked(one(A), now, FORCE))).toBe(false);
});

test("a directory on another device is another directory", () => {
  const other = { ...A, worktree: { ...A.worktree, identity: { ...A.worktree.identity, device: 2 } } };
  expect(checked(one(A), one(other))).toEqual({ a: "held could-not-tell" });
});

test("a branch that was switched at the same commit is no objection", () => {
  const head: Head = { kind: "branch", ref: "refs/heads/other", commit: "a".repeat(40) };
  expect(checked(one(A), one(withHead(A, head)))).toEqual(["a"]);
});

test("an objection to what is nested withholds the whole removal, and each says what it is", () => {
  const world = one(A, scanned("a/b"), scanned("a/b/c"), scanned("a/d"));
  const nested = withHead(scanned("a/b/c"), moved);
  expect(checked(world, one(A, scanned("a/b"), nested, scanned("a/d")))).toEqual({
    a: "held nested",
    "a/b": "held nested",
    "a/b/c": "held could-not-tell",
    "a/d": "held nested",
  });
});

test("a reason that came up in what is nested withholds the whole removal", () => {
  const world = one(A, scanned("a/b"), scanned("a/c"));
  expect(checked(world, one(A, scanned("a/b", EDITED), scanned("a/c")))).toEqual({
    a: "held nested",
    "a/b": "held uncommitted",
    "a/c": "held nested",
  });
});

test("a worktree that took the place of one that was nested is another one", () => {
  const world = one(A, scanned("a/b"));
  expect(checked(world, one(A, withInode(scanned("a/b"), 99)))).toEqual({
    a: "held nested",
    "a/b": "held could-not-tell",
  });
});

test("each of several withheld for one objection names where it is", () => {
  const world = one(A, scanned("a/b"));
  const [found] = withheldFor(world, one(A, withHead(scanned("a/b"), moved)));
  expect(found).toEqual(
    reason("nested", `${scanned("a/b").worktree.place}: its HEAD moved after the plan`, {
      paths: [scanned("a/b").worktree.place],
    }),
  );
});

test("what changed is said in words where there is no reason beside it", () => {
  expect(withheldFor(one(A), one(withHead(A, moved)))).toEqual([
    reason("could-not-tell", "since the plan: its HEAD moved after the plan", { questions: ["registration"] }),
  ]);
});

test.each([
  ["the same reasons", { ...EDITED }],
  ["the same reason with other paths, as all of them are saved", { uncommitted: answered(["notes.md", "more.md"]) }],
])("a forced removal goes with %s", (_, now) => {
  expect(checked(one(scanned("a", EDITED)), one(scanned("a", now)), FORCE)).toEqual(["a"]);
});

test("a forced removal is withheld for a reason that was not approved, though the flag passes it", () => {
  const now = one(scanned("a", { ...EDITED, ...AHEAD }));
  expect(checked(one(scanned("a", EDITED)), now, FORCE)).toEqual({ a: "held uncommitted unpushed could-not-tell" });
});

test("a forced removal is withheld for a reason that the flag does not pass", () => {
  const now = one(scanned("a", { ...EDITED, "in-use": answered([{ pid: 1, name: "sh" }]) }));
  expect(checked(one(scanned("a", EDITED)), now, FORCE)).toEqual({ a: "held uncommitted in-use" });
});

test("a forced removal is withheld when its HEAD moved", () => {
  expect(checked(one(scanned("a", EDITED)), one(withHead(scanned("a", EDITED), moved)), FORCE)).toEqual({
    a: "held uncommitted could-not-tell",
  });
});

test("a forced removal is withheld when a question went without an answer that was answered before", () => {
  const before = one(scanned("a", { ignored: unanswered("fatal") }));
  const now = one(scanned("a", { ignored: unanswered("fatal"), uncommitted: unanswered("fatal") }));
  expect(Array.isArray(checked(before, now, FORCE))).toBe(false);
});

// Ignored files are not saved, so that another one is more that is destroyed than anybody approved.
test("a forced removal is withheld when there is another ignored file than was approved", () => {
  const ignored = (...paths: string[]) => ({ ignored: answered({ paths, files: paths.length, bytes: 1 }) });
  const before = one(scanned("a", ignored(".env")));
  expect(Array.isArray(checked(before, one(scanned("a", ignored(".env", "new.log"))), FORCE))).toBe(false);
});

test("fewer ignored files than were approved are no objection", () => {
  const ignored = (...paths: string[]) => ({ ignored: answered({ paths, files: paths.length, bytes: paths.length }) });
  expect(checked(one(scanned("a", ignored(".env", "a.log"))), one(scanned("a", ignored("a.log"))), FORCE)).toEqual([
    "a",
  ]);
});

// Their number and their size say the same of other files.
test("a forced removal is withheld when an ignored file took the place of one of its size", () => {
  const ignored = (path: string) => ({ ignored: answered({ paths: [path], files: 1, bytes: 4096 }) });
  const before = one(scanned("a", ignored("a.log")));
  expect(Array.isArray(checked(before, one(scanned("a", ignored("results.csv"))), FORCE))).toBe(false);
});
