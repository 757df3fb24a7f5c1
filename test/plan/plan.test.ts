import { expect, test } from "vitest";
import { answered } from "../../src/model/evidence.ts";
import type { ScannedClone } from "../../src/model/scan.ts";
import { holdback } from "../../src/plan/holdback.ts";
import { needsArchive, planClone, removalsOf, type Removal } from "../../src/plan/plan.ts";
import { recheck } from "../../src/plan/recheck.ts";
import { clone, registration, scanned } from "../helpers/evidence.ts";

const NONE = { force: false, discardIgnored: false };
const FORCE = { force: true, discardIgnored: false };
const EDITED = { uncommitted: answered(["notes.md"]) };
const EMBEDDED = { "embedded-repository": answered(["tool"]) };

const shown = (world: ScannedClone, flags = NONE) =>
  Object.fromEntries(
    planClone(world, flags).worktrees.map(({ worktree, decision, removalRoot, reasons }) => [
      worktree.place.replaceAll(".claude/worktrees/", ""),
      `${decision} ${removalRoot?.replaceAll(".claude/worktrees/", "") ?? "-"} ${reasons.map(({ code }) => code).join(" ")}`.trim(),
    ]),
  );

test("a subtree that may go whole is one removal at its outermost worktree", () => {
  expect(shown(clone([scanned("a"), scanned("a/b"), scanned("a/b/c"), scanned("d")]))).toEqual({
    a: "remove a",
    "a/b": "remove a",
    "a/b/c": "remove a",
    d: "remove d",
  });
});

test("what stays three levels down holds everything above it and nothing beside it", () => {
  const world = clone([scanned("a"), scanned("a/b"), scanned("a/b/c", EDITED), scanned("a/b/d"), scanned("a/e")]);
  expect(shown(world)).toEqual({
    a: "keep - nested",
    "a/b": "keep - nested",
    "a/b/c": "keep - uncommitted",
    "a/b/d": "remove a/b/d",
    "a/e": "remove a/e",
  });
});

test("a skipped entry holds everything above it, with the flag too", () => {
  const skipped = {
    place: ".claude/worktrees/a/.claude/worktrees/x",
    parent: ".claude/worktrees/a",
    code: "symlink",
    detail: "",
  } as const;
  expect(shown(clone([scanned("a")], [skipped]), FORCE)).toEqual({ a: "keep - nested" });
});

test("force passes a nested worktree only when what is inside passes too", () => {
  expect(shown(clone([scanned("a"), scanned("a/b", EDITED)]), FORCE)).toEqual({
    a: "remove a",
    "a/b": "remove a uncommitted",
  });
  expect(shown(clone([scanned("a", EDITED), scanned("a/b", EMBEDDED)]), FORCE)).toEqual({
    a: "keep - uncommitted nested",
    "a/b": "keep - embedded-repository",
  });
});

test("only what a forced removal would destroy is archived first: a lock destroys nothing", () => {
  const locked = scanned("l", {}, registration("l", "locked"));
  const plan = planClone(clone([scanned("a"), scanned("e", EDITED), locked]), FORCE);
  expect(plan.worktrees.map((entry) => needsArchive(entry))).toEqual([false, true, false]);
});

function approved(world: ScannedClone, flags = NONE): Removal {
  const [removal] = removalsOf(planClone(world, flags));
  if (removal === undefined) throw new Error("nothing goes");
  return removal;
}

test("what was approved may shrink", () => {
  const before = approved(clone([scanned("a"), scanned("a/b")]));
  const result = recheck(before, planClone(clone([scanned("a")]), NONE));
  expect(result.kind === "go" && result.removal.subtree.map(({ worktree }) => worktree.place)).toEqual([
    ".claude/worktrees/a",
  ]);
});

const other = scanned("a");
const GROWN: Readonly<Record<string, ScannedClone>> = {
  "a worktree appeared inside": clone([scanned("a"), scanned("a/b")]),
  "a reason came up": clone([scanned("a", EDITED)]),
  "another directory took its place": clone([
    { ...other, worktree: { ...other.worktree, identity: { device: 1, inode: 99 } } },
  ]),
  "its registration changed": clone([scanned("a", {}, registration("z"))]),
  "its HEAD moved": clone([
    { ...other, evidence: { ...other.evidence, head: { kind: "detached", commit: "c".repeat(40) } } },
  ]),
  "it is gone": clone([]),
};

test.each(Object.entries(GROWN))("what was approved is withheld when %s", (_, now) => {
  const result = recheck(approved(clone([scanned("a")])), planClone(now, NONE));
  expect(result.kind).toBe("withheld");
  expect(result.kind === "withheld" && result.worktrees.every(({ reasons }) => reasons.length > 0)).toBe(true);
});

test("a forced removal is withheld when a reason came up that was not approved", () => {
  const before = approved(clone([scanned("a", EDITED)]), FORCE);
  expect(recheck(before, planClone(clone([scanned("a", EDITED)]), FORCE)).kind).toBe("go");
  const more = { ...EDITED, unpushed: answered({ commits: ["b".repeat(40)] }) };
  expect(recheck(before, planClone(clone([scanned("a", more)]), FORCE)).kind).toBe("withheld");
});

test.each([
  [[], [], null, "none", []],
  [["a"], [], null, "pruned", []],
  [["a"], ["b"], null, "held-back", ["b"]],
  [[], ["b"], null, "none", []],
  [["a"], [], "fatal", "held-back", []],
] as const)("dropped %j with %j left is %s", (dropped, left, error, action, heldBackBy) => {
  expect(
    holdback(
      dropped,
      [],
      left.map((name) => ({ name })),
      error,
    ),
  ).toEqual({ action, heldBackBy, dropped, failed: [], error });
});
