import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import {
  archiveMessage,
  archiveName,
  listArchives,
  parseArchiveMessage,
  ARCHIVE_NAMESPACE,
  type ArchiveFacts,
} from "../../src/git/archive-ref.ts";
import { stagesOf } from "../helpers/stages.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

const FACTS: ArchiveFacts = {
  version: 1,
  createdAt: "2026-01-31T10:00:00.000Z",
  workspace: "ws",
  worktree: ".claude/worktrees/a1",
  branch: "refs/heads/x",
  commit: "a".repeat(40),
  indexTree: null,
  changedPaths: 3,
};

const facts = (given: Partial<ArchiveFacts> = {}): ArchiveFacts => ({ ...FACTS, ...given });
const nothing: ReadonlySet<string> = new Set();

/** Makes an archive of these facts in the bare and returns its name. */
function archive(world: World, given: Partial<ArchiveFacts>, taken: ReadonlySet<string> = nothing): string {
  const bare = world.main.bare ?? "";
  const name = archiveName(facts(given), taken);
  const commit = world.git(bare, "commit-tree", "main^{tree}", "-m", archiveMessage(facts(given))).trim();
  world.git(bare, "update-ref", ARCHIVE_NAMESPACE + name, commit);
  return name;
}

test.each([
  [{}],
  [{ branch: null, commit: null, indexTree: "b".repeat(40), changedPaths: 0 }],
  [{ workspace: 'a "b"\n\\ ', worktree: ".claude/worktrees/é\u2028x\r\ndl-archive: {}" }],
  [{ branch: "refs/heads/dl-archive:-x" }],
])("what a message says comes back from git as it was: %j", async (given) => {
  const world = await temporaryWorld();
  archive(world, given);
  const { tools } = await stagesOf(world);
  const [found] = await listArchives(tools.git, world.main.bare ?? "");
  expect(parseArchiveMessage(found?.message ?? "")).toEqual(facts(given));
});

test("a message starts with a line for people", () => {
  expect(archiveMessage(FACTS).split("\n").slice(0, 2)).toEqual([
    "Saved by dl before a forced removal of a worktree",
    "",
  ]);
});

test.each([
  ["no mark", "Saved by dl before a forced removal of a worktree\n"],
  ["no JSON", "x\n\ndl-archive: {\n"],
  ["JSON of another kind", "x\n\ndl-archive: []\n"],
  ["another version", archiveMessage(FACTS).replace('"version":1', '"version":2')],
  ["a field too few", archiveMessage(FACTS).replace('"changedPaths":3', '"other":3')],
  ["a field of another type", archiveMessage(FACTS).replace('"changedPaths":3', '"changedPaths":"3"')],
  ["the mark inside a line", `x ${archiveMessage(FACTS).split("\n")[2]}`],
  ["nothing", ""],
])("a message with %s is none of an archive", (_, message) => {
  expect(parseArchiveMessage(message)).toBeNull();
});

test("a name is the day, the workspace and the worktree's own name", () => {
  expect(archiveName(facts(), nothing)).toBe("2026-01-31/ws/a1");
  expect(archiveName(facts({ worktree: ".claude/worktrees/a1/.claude/worktrees/n1" }), nothing)).toBe(
    "2026-01-31/ws/n1",
  );
});

test("a name that is taken is numbered, also past numbers that are taken", () => {
  const taken = new Set(["2026-01-31/ws/a1", "2026-01-31/ws/a1-2"]);
  expect(archiveName(facts(), taken)).toBe("2026-01-31/ws/a1-3");
  expect(archiveName(facts({ createdAt: "2026-02-01T00:00:00.000Z" }), taken)).toBe("2026-02-01/ws/a1");
});

const ODD = [
  "a b",
  "a~b",
  "a^b",
  "a:b",
  "a?b",
  "a*b",
  "a[b",
  "a\\b",
  "a..b",
  "...",
  ".a",
  "a.",
  "-a",
  "a.lock",
  "a.lock.",
  ".lock",
  "x.lock.lock",
  "@",
  "a@{b",
  "a\nb",
  "a\u007Fb",
  "\u001B[31m",
  "é",
  "名前",
  "e\u0301",
  "\u{1F600}",
  "-",
  "a/b",
];

function isRef(name: string): boolean {
  return spawnSync("git", ["check-ref-format", name]).status === 0;
}

test.each(ODD)("git takes a name made of %j as a ref", (text) => {
  const name = archiveName(facts({ workspace: text, worktree: `.claude/worktrees/${text}` }), nothing);
  expect(name).toMatch(/^2026-01-31\/[^/]+\/[^/]+$/);
  expect(isRef(ARCHIVE_NAMESPACE + name)).toBe(true);
  expect(name).not.toMatch(/[\u0000-\u001F\u007F]/);
});

// A ref is a file, with `.lock` behind its name while it is written.
test.each([
  "x".repeat(255),
  "é".repeat(127),
  `${"x".repeat(199)}...and-more-of-it`,
  `${"x".repeat(198)}\u{1F600}\u{1F600}`,
])("git takes the name of a worktree that is as long as a name can be: %#", async (text) => {
  const world = await temporaryWorld();
  const name = archive(world, { workspace: text, worktree: `.claude/worktrees/${text}` });
  const again = archive(world, { workspace: text, worktree: `.claude/worktrees/${text}` }, new Set([name]));
  const { tools } = await stagesOf(world);
  const listed = await listArchives(tools.git, world.main.bare ?? "");
  expect(listed.map((one) => one.name)).toEqual([name, again]);
});

// What is cut off may leave `.lock` at the end, which no component of a ref may have.
test("git takes the name of a worktree that is cut behind .lock", () => {
  const worktree = `.claude/worktrees/${"x".repeat(195)}.lock-of-something`;
  expect(isRef(ARCHIVE_NAMESPACE + archiveName(facts({ worktree }), nothing))).toBe(true);
});

test("archives are listed with their names and objects, and no other ref among them", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const bare = world.main.bare ?? "";
  const name = archive(world, {});
  world.git(bare, "update-ref", "refs/dl/other", "main");
  world.git(bare, "update-ref", "refs/heads/archive/x", "main");
  const ref = `refs/dl/archive/${name}`;
  expect(await listArchives(tools.git, bare)).toEqual([
    { name, ref, object: world.git(bare, "rev-parse", ref).trim(), message: archiveMessage(FACTS) },
  ]);
});

// The last --sort is git's first key: the names decide, and the time of their making never does.
test("archives of one day are listed oldest first", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const made = ["z", "a", "m"].map((name) => archive(world, { worktree: `.claude/worktrees/${name}` }));
  expect((await listArchives(tools.git, world.main.bare ?? "")).map(({ name }) => name)).toEqual(made);
});

test("a ref there that is no archive is listed as it is, for whoever reads its message", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const bare = world.main.bare ?? "";
  world.git(bare, "update-ref", "refs/dl/archive/x", "main");
  const [found] = await listArchives(tools.git, bare);
  expect(found).toMatchObject({ name: "x", message: "seed\n" });
  expect(parseArchiveMessage(found?.message ?? "")).toBeNull();
});

test("a repository without archives has none", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  expect(await listArchives(tools.git, world.main.bare ?? "")).toEqual([]);
});
