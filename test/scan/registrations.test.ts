import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Clone } from "../../src/model/clone.ts";
import type { AdminRecord, Registered } from "../../src/model/worktree.ts";
import { decideRegistrations } from "../../src/scan/registrations.ts";
import { temporaryDirectory } from "../helpers/temporary.ts";

/** A clone of a workspace called `ws`, as far as registrations know one. */
async function makeClone(): Promise<Clone> {
  const repositoryDir = await temporaryDirectory();
  const path = join(repositoryDir, "ws");
  mkdirSync(join(path, ".git/worktrees"), { recursive: true });
  return { path, gitDir: join(path, ".git"), repositoryDir, owner: "o", repo: "r", workspace: "ws", bare: null };
}

/** An admin directory that was read, with the path that it records. */
function record(clone: Clone, id: string, recordedPath: string, locked = false): AdminRecord {
  const directory = join(clone.gitDir, "worktrees", id);
  const lock = locked ? { reason: "why" } : null;
  return { kind: "readable", id, directory, recordedPath, headText: null, lock };
}

function touch(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
  return path;
}

/** Returns the state of the one registration that records this path. */
async function stateOf(clone: Clone, recordedPath: string): Promise<Registered["state"]> {
  const { all } = await decideRegistrations(clone, [record(clone, "a1", recordedPath)]);
  return all[0]?.state ?? "unreadable";
}

test("a recorded path with nothing at it is prunable", async () => {
  const clone = await makeClone();
  expect(await stateOf(clone, "/workspaces/ws/.claude/worktrees/a1")).toBe("prunable");
});

test.each(["a gitfile", "a directory", "a link to nothing"])("a recorded path with %s at it is live", async (what) => {
  const clone = await makeClone();
  const gitfile = join(clone.repositoryDir, "elsewhere/a1/.git");
  touch(join(dirname(gitfile), "x"));
  if (what === "a gitfile") touch(gitfile);
  else if (what === "a directory") mkdirSync(gitfile);
  else symlinkSync("/nonexistent", gitfile);
  expect(await stateOf(clone, dirname(gitfile))).toBe("live");
});

test("a directory at the recorded path without a gitfile in it is prunable, as git says too", async () => {
  const clone = await makeClone();
  touch(join(clone.repositoryDir, "elsewhere/a1/README.md"));
  expect(await stateOf(clone, join(clone.repositoryDir, "elsewhere/a1"))).toBe("prunable");
});

test("a recorded path that leads through a file is prunable", async () => {
  const clone = await makeClone();
  expect(await stateOf(clone, join(touch(join(clone.repositoryDir, "file")), "a1"))).toBe("prunable");
});

test("a recorded path that is too long to exist is prunable", async () => {
  expect(await stateOf(await makeClone(), `/${"x".repeat(300)}`)).toBe("prunable");
});

test("a recorded path that leads in a circle cannot be decided", async () => {
  const clone = await makeClone();
  symlinkSync("circle", join(clone.repositoryDir, "circle"));
  const { all } = await decideRegistrations(clone, [record(clone, "a1", join(clone.repositoryDir, "circle/a1"))]);
  expect(all).toEqual([
    { state: "unreadable", id: "a1", words: expect.stringContaining("could not be told: ELOOP") as string },
  ]);
});

test("a relative path counts from the admin directory's place in the clone", async () => {
  const clone = await makeClone();
  expect(await stateOf(clone, "../../../.claude/worktrees/a1")).toBe("prunable");
  touch(join(clone.path, ".claude/worktrees/a1/.git"));
  expect(await stateOf(clone, "../../../.claude/worktrees/a1")).toBe("live");
});

test.each(["/nonexistent", "<elsewhere>"])("a lock counts before the path is asked about: %s", async (path) => {
  const clone = await makeClone();
  const recordedPath = path.replace("<elsewhere>", clone.repositoryDir);
  touch(join(clone.repositoryDir, ".git"));
  const { all } = await decideRegistrations(clone, [record(clone, "a1", recordedPath, true)]);
  expect(all).toMatchObject([{ state: "locked", lockReason: "why" }]);
});

test("what could not be read stays so, with its words, and spoils no other", async () => {
  const clone = await makeClone();
  const unreadable = { kind: "unreadable", id: "x", directory: "/d", words: "it is a link" } as const;
  const { all } = await decideRegistrations(clone, [
    unreadable,
    record(clone, "a1", "/workspaces/ws/.claude/worktrees/a1"),
  ]);
  expect(all.map(({ state }) => state)).toEqual(["unreadable", "prunable"]);
  expect(all[0]).toEqual({ state: "unreadable", id: "x", words: "it is a link" });
});

test("deciding asks of the recorded path and makes nothing there", async () => {
  const clone = await makeClone();
  const path = join(clone.repositoryDir, "elsewhere/a1");
  await stateOf(clone, path);
  expect(existsSync(dirname(path))).toBe(false);
});

/** What a clone's registrations record → the places that they are joined to. */
const PLACES: readonly (readonly [string, string | null])[] = [
  ["/workspaces/ws/.claude/worktrees/a1", ".claude/worktrees/a1"],
  ["<clone>/.claude/worktrees/a1", ".claude/worktrees/a1"],
  ["/anywhere/.claude/worktrees/a1", ".claude/worktrees/a1"],
  ["/workspaces/ws/.claude/worktrees/a1/.claude/worktrees/n1", ".claude/worktrees/a1/.claude/worktrees/n1"],
  ["../../../.claude/worktrees/a1", ".claude/worktrees/a1"],
  ["../../../src/../.claude/worktrees/a1", ".claude/worktrees/a1"],
  ["../../../../other/.claude/worktrees/a1", null],
  ["../../../../ws2/.claude/worktrees/a1", null],
  ["/workspaces/ws/elsewhere", null],
  ["/workspaces/ws/.claude/worktrees", null],
  ["/workspaces/ws/.claude/worktrees/a1/src", null],
  ["/workspaces/ws/.claude/worktrees/a1/../b1", null],
  ["/workspaces/ws2/elsewhere", null],
  ["/tmp/a1", null],
  ["/workspaces/ws", null],
];

test.each(PLACES)("a registration that records %s is joined to %j", async (recordedPath, place) => {
  const clone = await makeClone();
  const registrations = await decideRegistrations(clone, [
    record(clone, "a1", recordedPath.replace("<clone>", clone.path)),
  ]);
  expect(registrations.all.map((one) => registrations.placeOf(one))).toEqual([place]);
});

test("a registration that cannot be read has no place", async () => {
  const registrations = await decideRegistrations(await makeClone(), []);
  expect(registrations.placeOf({ state: "unreadable", id: "a1", words: "" })).toBeNull();
});

/** What stands before `/.git/worktrees/<id>` in a gitfile → whether it means this clone, whose registrations record /mnt/ws. */
const PREFIXES: readonly (readonly [string, boolean])[] = [
  ["<clone>", true],
  ["/workspaces/ws", true],
  ["/mnt/ws", true],
  ["../../..", true],
  ["../../../../ws", true],
  ["/workspaces/ws2", false],
  ["/workspaces/w", false],
  ["/workspaces", false],
  ["/workspaces/ws/", false],
  ["/workspaces/ws/sub", false],
  ["/mnt", false],
  ["<clone>/..", false],
  ["../..", false],
  ["../../../..", false],
  ["../../../../ws2", false],
  ["", false],
];

test.each(PREFIXES)("a gitfile that names an admin directory of %j means this clone: %s", async (prefix, own) => {
  const clone = await makeClone();
  const registrations = await decideRegistrations(clone, [record(clone, "b1", "/mnt/ws/.claude/worktrees/b1")]);
  expect(registrations.isOwnPrefix(prefix.replace("<clone>", clone.path), ".claude/worktrees/a1")).toBe(own);
});

test("a relative gitfile counts from where the worktree is", async () => {
  const registrations = await decideRegistrations(await makeClone(), []);
  const nested = ".claude/worktrees/a1/.claude/worktrees/n1";
  expect(registrations.isOwnPrefix("../../../../../..", nested)).toBe(true);
  expect(registrations.isOwnPrefix("../../..", nested)).toBe(false);
});

test.each([
  ["a path outside every worktrees place", "/mnt/ws/elsewhere"],
  ["a path below a worktree", "/mnt/ws/.claude/worktrees/b1/src"],
  ["a relative path", "../mnt/ws/.claude/worktrees/b1"],
])("%s records no prefix", async (_, recordedPath) => {
  const clone = await makeClone();
  const registrations = await decideRegistrations(clone, [record(clone, "b1", recordedPath)]);
  expect(registrations.isOwnPrefix("/mnt/ws", ".claude/worktrees/a1")).toBe(false);
  expect(registrations.isOwnPrefix("../mnt/ws", ".claude/worktrees/a1")).toBe(false);
});

test("a registration that records a place at the root does not make every path this clone's", async () => {
  const clone = await makeClone();
  const registrations = await decideRegistrations(clone, [record(clone, "b1", "/.claude/worktrees/b1")]);
  expect(registrations.insideClone("/home/me/.claude/worktrees/a1", "b1")).toBeNull();
  expect(registrations.all.map((one) => registrations.placeOf(one))).toEqual([null]);
});

test("the prefix of a path that exists on this host is somebody else's", async () => {
  const clone = await makeClone();
  const other = join(clone.repositoryDir, "ws2");
  touch(join(other, ".claude/worktrees/b1/.git"));
  const registrations = await decideRegistrations(clone, [record(clone, "b1", join(other, ".claude/worktrees/b1"))]);
  expect(registrations.isOwnPrefix(other, ".claude/worktrees/a1")).toBe(false);
});

test("a recorded path is told relative to the clone, wherever in it", async () => {
  const clone = await makeClone();
  const registrations = await decideRegistrations(clone, [record(clone, "b1", "/mnt/ws/.claude/worktrees/b1")]);
  const paths = [
    `${clone.path}/x/y`,
    "/workspaces/ws/x",
    "/mnt/ws/x",
    "../../../x",
    "../../../../x",
    "../../../../ws2/x",
    "/elsewhere/x",
    "/workspaces/ws2/x",
  ];
  expect(paths.map((path) => registrations.insideClone(path, "b1"))).toEqual([
    "x/y",
    "x",
    "x",
    "x",
    null,
    null,
    null,
    null,
  ]);
});
