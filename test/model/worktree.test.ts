import { expect, test } from "vitest";
import { isSame, registrationId } from "../../src/model/worktree.ts";
import { registration } from "../helpers/evidence.ts";

test.each([
  ["none", { state: "none" }, null],
  ["prunable", registration("a1"), "a1"],
  ["live", registration("a1", "live"), "a1"],
  ["locked", registration("a1", "locked"), "a1"],
  ["unreadable", { state: "unreadable", id: "a1", words: "a link" }, "a1"],
] as const)("a registration that is %s goes by its admin directory's name", (_, given, id) => {
  expect(registrationId(given)).toBe(id);
});

test.each([
  [{ device: 1, inode: 2 }, true],
  [{ device: 1, inode: 3 }, false],
  [{ device: 2, inode: 2 }, false],
])("device 1, inode 2 is %j: %s", (other, same) => {
  expect(isSame({ device: 1, inode: 2 }, other)).toBe(same);
});
