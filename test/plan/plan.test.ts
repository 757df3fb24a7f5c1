import { expect, test } from "vitest";
import { reason } from "../../src/classify/reason.ts";
import { answered, unanswered } from "../../src/model/evidence.ts";
import type { ScannedClone, StrayRegistration } from "../../src/model/scan.ts";
import { needsArchive, planClone, removalsOf, type Flags } from "../../src/plan/plan.ts";
import { clone, placeOf, registration, scanned, skipped, stray } from "../helpers/evidence.ts";

const NONE: Flags = { force: false, discardIgnored: false };
const FORCE: Flags = { force: true, discardIgnored: false };
const EDITED = { uncommitted: answered(["notes.md"]) };
const IGNORED = { ignored: answered({ paths: [".env"], files: 1, bytes: 1 }) };
const EMBEDDED = { "embedded-repository": answered(["tool"]) };

const short = (place: string): string => place.replaceAll(".claude/worktrees/", "");

/** Each worktree's names → what is decided, the root that it goes with, whether it is forced, and the codes of its reasons. */
function shown(world: ScannedClone, flags = NONE): Record<string, string> {
  return Object.fromEntries(
    planClone(world, flags).worktrees.map(({ worktree, decision, forced, removalRoot, reasons }) => [
      short(worktree.place),
      [
        decision,
        removalRoot === null ? "-" : short(removalRoot),
        ...(forced ? ["forced"] : []),
        ...reasons.map(({ code }) => code),
      ].join(" "),
    ]),
  );
}

test("what is clear goes by itself, what is not stays", () => {
  expect(shown(clone([scanned("a"), scanned("b", EDITED), scanned("c", {}, { state: "none" })]))).toEqual({
    a: "remove a",
    b: "keep - uncommitted",
    c: "remove c",
  });
});

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

test("what stays in the middle holds what is above it, and what is inside it goes alone", () => {
  const world = clone([scanned("a"), scanned("a/b", EDITED), scanned("a/b/c"), scanned("a/b/c/d")]);
  expect(shown(world)).toEqual({
    a: "keep - nested",
    "a/b": "keep - uncommitted",
    "a/b/c": "remove a/b/c",
    "a/b/c/d": "remove a/b/c",
  });
});

test("what stays at the top holds nothing that is inside it", () => {
  expect(shown(clone([scanned("a", EDITED), scanned("a/b"), scanned("a/b/c")]))).toEqual({
    a: "keep - uncommitted",
    "a/b": "remove a/b",
    "a/b/c": "remove a/b",
  });
});

test("a name that only begins like another is not inside it", () => {
  expect(shown(clone([scanned("a"), scanned("ab", EDITED), scanned("a/b")]))).toEqual({
    a: "remove a",
    ab: "keep - uncommitted",
    "a/b": "remove a",
  });
});

test("what has a reason of its own and something inside that stays tells both", () => {
  expect(shown(clone([scanned("a", EDITED), scanned("a/b", IGNORED)]))).toEqual({
    a: "keep - uncommitted nested",
    "a/b": "keep - ignored",
  });
});

test("what stays inside is named, worktrees and skipped entries", () => {
  const world = clone([scanned("a"), scanned("a/b", EDITED)], [skipped("a/x"), skipped("y")]);
  const paths = [placeOf("a/b"), placeOf("a/x")];
  expect(planClone(world, NONE).worktrees[0]?.reasons).toEqual([
    reason("nested", `2 entries inside it stay: ${paths.join(", ")}`, { paths }),
  ]);
});

test.each([NONE, FORCE])("a skipped entry holds everything above it, whatever the flags: %j", (flags) => {
  const world = clone([scanned("a"), scanned("a/b"), scanned("a/c"), scanned("d")], [skipped("a/b/x"), skipped("y")]);
  expect(shown(world, flags)).toEqual({
    a: "keep - nested",
    "a/b": "keep - nested",
    "a/c": "remove a/c",
    d: "remove d",
  });
});

test("what is nested makes a prunable worktree held, and a locked one stays locked", () => {
  const world = clone([scanned("a"), scanned("b", {}, registration("b", "locked"))], [skipped("a/x"), skipped("b/x")]);
  expect(planClone(world, NONE).worktrees.map((one) => one.class)).toEqual(["held", "locked"]);
});

test("the flag carries each worktree past what it passes, and names only those that needed it", () => {
  const world = clone([
    scanned("a"),
    scanned("b", EDITED),
    scanned("c", {}, registration("c", "locked")),
    scanned("d", { ...EDITED, ...EMBEDDED }),
    scanned("e", {}, registration("e", "live")),
    scanned("f", { uncommitted: unanswered("fatal") }),
    scanned("g", { "in-use": unanswered("fatal") }),
  ]);
  expect(shown(world, FORCE)).toEqual({
    a: "remove a",
    b: "remove b forced uncommitted",
    c: "remove c forced locked",
    d: "keep - uncommitted embedded-repository",
    e: "keep - live-registration",
    f: "remove f forced could-not-tell",
    g: "keep - could-not-tell",
  });
});

test("the flag passes what is nested only when what is inside passes too", () => {
  expect(shown(clone([scanned("a"), scanned("a/b", EDITED)]), FORCE)).toEqual({
    a: "remove a",
    "a/b": "remove a forced uncommitted",
  });
  expect(shown(clone([scanned("a", EDITED), scanned("a/b", EMBEDDED)]), FORCE)).toEqual({
    a: "keep - uncommitted nested",
    "a/b": "keep - embedded-repository",
  });
});

test("leave to discard ignored files lets those go without force, three levels down too", () => {
  const world = clone([scanned("a"), scanned("a/b", IGNORED), scanned("c", { ...IGNORED, ...EDITED })]);
  expect(shown(world, { force: false, discardIgnored: true })).toEqual({
    a: "remove a",
    "a/b": "remove a",
    c: "keep - uncommitted",
  });
});

test("a removal is its root and all that goes with it, root first, in the order of the clone", () => {
  const world = clone([
    scanned("a"),
    scanned("a/b"),
    scanned("a/b/c"),
    scanned("d", EDITED),
    scanned("d/e"),
    scanned("f"),
  ]);
  const removals = removalsOf(planClone(world, NONE));
  expect(removals.map(({ root, subtree }) => [root, ...subtree].map(({ worktree }) => short(worktree.place)))).toEqual([
    ["a", "a", "a/b", "a/b/c"],
    ["d/e", "d/e"],
    ["f", "f"],
  ]);
});

test("nothing goes from a clone in which everything stays", () => {
  expect(removalsOf(planClone(clone([scanned("a", EDITED)]), NONE))).toEqual([]);
});

test("a plan keeps what was scanned", () => {
  const world = clone([scanned("a")], [skipped("x")], { error: "fatal: a branch is broken" });
  expect(planClone(world, NONE)).toMatchObject({
    clone: world.clone,
    error: world.error,
    skipped: world.skipped,
    worktrees: world.worktrees,
  });
});

test("only what a forced removal would destroy is archived first: a lock and ignored files are not saved", () => {
  const world = clone([
    scanned("clear"),
    scanned("edited", EDITED),
    scanned("locked", {}, registration("locked", "locked")),
    scanned("ignored", IGNORED),
    scanned("both", { ...IGNORED, ...EDITED }),
    scanned("untold", { ignored: unanswered("fatal") }),
    scanned("merging", { "in-progress": answered(["merge"]) }),
    scanned("ahead", { unpushed: answered({ commits: ["b".repeat(40)] }) }),
    scanned("stays", { ...EDITED, ...EMBEDDED }),
  ]);
  const saved = planClone(world, FORCE).worktrees.filter((one) => needsArchive(one));
  expect(saved.map(({ worktree }) => short(worktree.place))).toEqual(["edited", "both", "untold", "merging", "ahead"]);
});

/** Returns what is decided of a registration without a directory, and the codes of its reasons. */
function decided(one: StrayRegistration, flags = NONE, error: string | null = null): string {
  const [planned] = planClone(clone([], [], { strays: [one], error }), flags).strays;
  return [planned?.decision, ...(planned?.reasons ?? []).map(({ code }) => code)].join(" ");
}

const AHEAD = { unpushed: answered({ commits: ["b".repeat(40)] }) };

test.each([
  ["clear", stray("a"), NONE, "drop"],
  ["clear, forced", stray("a"), FORCE, "drop"],
  ["with commits that nothing else holds", stray("a", AHEAD), NONE, "keep unpushed"],
  ["with such commits, forced: it may be all that holds them", stray("a", AHEAD), FORCE, "keep unpushed"],
  ["that could not be told", stray("a", { registration: unanswered("fatal") }), FORCE, "keep could-not-tell"],
  ["with staged content, forced", stray("a", { uncommitted: answered(["x"]) }), FORCE, "keep uncommitted"],
  ["that is live, forced", stray("a", {}, registration("a", "live")), FORCE, "keep live-registration"],
  ["that is locked", stray("a", {}, registration("a", "locked")), NONE, "keep locked"],
  ["that is locked, forced", stray("a", {}, registration("a", "locked")), FORCE, "drop locked"],
  ["that is locked and ahead, forced", stray("a", AHEAD, registration("a", "locked")), FORCE, "keep locked unpushed"],
] as const)("a registration without a directory %s", (_, one, flags, expected) => {
  expect(decided(one, flags)).toBe(expected);
});

test.each([NONE, FORCE])("no registration of a clone that could not be read whole is dropped: %j", (flags) => {
  expect(decided(stray("a"), flags, "fatal: a branch is broken")).toBe("keep could-not-tell");
});
