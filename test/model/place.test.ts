import { expect, test } from "vitest";
import { isBelow, isWorktreePlace, placeIn, splitAtPlace } from "../../src/model/place.ts";

test("a place is named by the worktrees places that lead to it", () => {
  expect(placeIn(null, "a1")).toBe(".claude/worktrees/a1");
  expect(placeIn(".claude/worktrees/a1", "n1")).toBe(".claude/worktrees/a1/.claude/worktrees/n1");
});

test.each([
  [".claude/worktrees/a1/.claude/worktrees/n1", ".claude/worktrees/a1", true],
  [".claude/worktrees/a1/x", ".claude/worktrees/a1", true],
  [".claude/worktrees/a1", ".claude/worktrees/a1", false],
  [".claude/worktrees/a10", ".claude/worktrees/a1", false],
  [".claude/worktrees/a1", ".claude/worktrees/a1/.claude/worktrees/n1", false],
])("%s lies below %s: %s", (place, outer, below) => {
  expect(isBelow(place, outer)).toBe(below);
});

test.each([
  [".claude/worktrees/a1", true],
  [".claude/worktrees/a1/.claude/worktrees/n1", true],
  [".claude/worktrees/a1/.claude/worktrees/n1/.claude/worktrees/m1", true],
  [".claude/worktrees/.claude", true],
  [".claude/worktrees/worktrees", true],
  [".claude/worktrees/a 1\n", true],
  ["", false],
  [".claude/worktrees", false],
  [".claude/worktrees/", false],
  [".claude/worktrees/.", false],
  [".claude/worktrees/..", false],
  [".claude/worktrees/a1/", false],
  [".claude/worktrees/a1/src", false],
  [".claude/worktrees/a1/.claude/worktrees", false],
  [".claude/worktrees/a1/.claude/worktrees/..", false],
  ["/.claude/worktrees/a1", false],
  ["x/.claude/worktrees/a1", false],
  ["./.claude/worktrees/a1", false],
  [".claude//worktrees/a1", false],
  [".Claude/worktrees/a1", false],
])("%j has the form of a worktree's place: %s", (place, is) => {
  expect(isWorktreePlace(place)).toBe(is);
});

test.each([
  ["/workspaces/ws/.claude/worktrees/a1", "/workspaces/ws", ".claude/worktrees/a1"],
  [
    "/workspaces/ws/.claude/worktrees/a1/.claude/worktrees/n1",
    "/workspaces/ws",
    ".claude/worktrees/a1/.claude/worktrees/n1",
  ],
  ["/.claude/worktrees/a1", "", ".claude/worktrees/a1"],
  ["../x/.claude/worktrees/a1", "../x", ".claude/worktrees/a1"],
])("%s is split at its first worktrees place", (path, prefix, place) => {
  expect(splitAtPlace(path)).toEqual({ prefix, place });
});

test.each([
  "/workspaces/ws",
  "/workspaces/ws/.claude/worktrees",
  "/workspaces/ws/.claude/worktrees/..",
  "/workspaces/ws/.claude/worktrees/a1/src",
  "/workspaces/ws/my.claude/worktrees/a1",
  ".claude/worktrees/a1",
  "",
])("%j records no place", (path) => {
  expect(splitAtPlace(path)).toBeNull();
});
