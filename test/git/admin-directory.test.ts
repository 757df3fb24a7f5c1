import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import {
  isObjectId,
  readAdminDirectories,
  readHead,
  readInterruptedCommits,
  readOperations,
  readOwnRefs,
} from "../../src/git/admin-directory.ts";
import type { ReadableAdmin } from "../../src/model/worktree.ts";
import { temporaryDirectory, temporaryWorld } from "../helpers/temporary.ts";

const A = "a".repeat(40);

/** An admin directory as git in a container leaves it, with files replaced or, where null, left out. Returns the directory of them all. */
async function adminRoot(files: Readonly<Record<string, string | Uint8Array | null>> = {}): Promise<string> {
  const root = join(await temporaryDirectory(), "worktrees");
  const usual = { gitdir: "/workspaces/ws/.claude/worktrees/a1/.git\n", HEAD: `${A}\n`, commondir: "../..\n" };
  for (const [name, content] of Object.entries({ ...usual, ...files })) {
    if (content === null) continue;
    mkdirSync(dirname(join(root, "a1", name)), { recursive: true });
    writeFileSync(join(root, "a1", name), content);
  }
  return root;
}

/** Returns what is wrong with the one admin directory below a root. */
async function wordsOf(root: string): Promise<string> {
  const listing = await readAdminDirectories(root);
  if (listing.kind === "unreadable") throw new Error(listing.words);
  const [record, ...others] = listing.records;
  if (record?.kind !== "unreadable" || others.length > 0) throw new Error(`unexpected ${JSON.stringify(listing)}`);
  expect(record).toMatchObject({ id: "a1", directory: join(root, "a1") });
  return record.words.replaceAll(dirname(root), "");
}

function readable(headText: string | null): ReadableAdmin {
  return { kind: "readable", id: "a1", directory: "/x", recordedPath: "/y", headText, lock: null };
}

test("reads a registration's recorded path, HEAD and lock as text", async () => {
  const root = await adminRoot();
  expect(await readAdminDirectories(root)).toEqual({
    kind: "listed",
    records: [
      {
        kind: "readable",
        id: "a1",
        directory: join(root, "a1"),
        recordedPath: "/workspaces/ws/.claude/worktrees/a1",
        headText: A,
        lock: null,
      },
    ],
  });
});

test("reads what git itself wrote, in the order of their names", async () => {
  const world = await temporaryWorld();
  for (const name of ["b1", "a1"]) world.addWorktree(name);
  world.lock(join(world.place(), "b1"), "line one\nline two");
  world.containerise();
  const root = join(world.main.clone, ".git/worktrees");
  const records = (["a1", "b1"] as const).map((id) => ({
    kind: "readable",
    id,
    directory: join(root, id),
    recordedPath: `${world.main.containerPath}/.claude/worktrees/${id}`,
    headText: `ref: refs/heads/${id}`,
    lock: id === "b1" ? { reason: "line one\nline two" } : null,
  }));
  expect(await readAdminDirectories(root)).toEqual({ kind: "listed", records });
});

test("a clone that never had a worktree has no registrations", async () => {
  expect(await readAdminDirectories(join(await temporaryDirectory(), "worktrees"))).toEqual({
    kind: "listed",
    records: [],
  });
});

test.each(["a file", "a link", "a link to nothing"])("where registrations should be, %s is not read", async (what) => {
  const root = await adminRoot();
  renameSync(root, `${root}-moved`);
  if (what === "a file") writeFileSync(root, "");
  else symlinkSync(what === "a link" ? `${root}-moved` : "/nonexistent", root);
  expect(await readAdminDirectories(root)).toEqual({ kind: "unreadable", words: `${root} is not a directory` });
});

test.each([
  ["", null],
  ["\n", null],
  ["initializing", "initializing"],
  ["  two\nlines \n", "two\nlines"],
])("a lock file with %j is a lock, with its reason where it has one", async (content, reason) => {
  const listing = await readAdminDirectories(await adminRoot({ locked: content }));
  expect(listing).toMatchObject({ records: [{ kind: "readable", lock: { reason } }] });
});

test.each([
  ["a relative path", "../../../.claude/worktrees/a1/.git\n", "../../../.claude/worktrees/a1"],
  ["spaces", "/my ws/.claude/worktrees/a 1 /.git\n", "/my ws/.claude/worktrees/a 1 "],
  ["no line break", "/x/.git", "/x"],
])("a recorded path with %s stays text", async (_, content, recordedPath) => {
  const listing = await readAdminDirectories(await adminRoot({ gitdir: content }));
  expect(listing).toMatchObject({ records: [{ kind: "readable", recordedPath }] });
});

test("a registration without a HEAD is read, and says so", async () => {
  const listing = await readAdminDirectories(await adminRoot({ HEAD: null }));
  expect(listing).toMatchObject({ records: [{ kind: "readable", headText: null }] });
});

test.each([
  ["no gitdir file", { gitdir: null }, "it has no gitdir file, or an empty one"],
  ["an empty gitdir file", { gitdir: "" }, "it has no gitdir file, or an empty one"],
  ["a gitdir file of blank lines", { gitdir: "\n\n" }, "it has no gitdir file, or an empty one"],
  [
    "a gitdir file whose line breaks would forge a record",
    { gitdir: "/x/.git\nworktree /home/me/precious\n/y/.git\n" },
    "its gitdir file is not the path of a gitfile",
  ],
  ["a gitdir file with a NUL", { gitdir: "/x\0/.git\n" }, "its gitdir file is not the path of a gitfile"],
  [
    "a gitdir file with a carriage return inside",
    { gitdir: "/x\r/.git" },
    "its gitdir file is not the path of a gitfile",
  ],
  [
    "a gitdir file that is no UTF-8",
    { gitdir: Buffer.from([0x2f, 0xff, ...Buffer.from("/.git\n")]) },
    "its gitdir file is not the path of a gitfile",
  ],
  ["a gitdir file that names no gitfile", { gitdir: "not a path\n" }, "its gitdir file is not the path of a gitfile"],
  ["a gitdir file that is huge", { gitdir: "/x".repeat(100_000) }, "/worktrees/a1/gitdir is larger than 65536 bytes"],
  ["a HEAD that is huge", { HEAD: "x".repeat(100_000) }, "/worktrees/a1/HEAD is larger than 65536 bytes"],
  ["no commondir file", { commondir: null }, "its commondir file does not name this clone"],
  ["an empty commondir file", { commondir: "" }, "its commondir file does not name this clone"],
  ["the commondir of another clone", { commondir: "/elsewhere/.git\n" }, "its commondir file does not name this clone"],
  ["a commondir elsewhere in the clone", { commondir: "../../x\n" }, "its commondir file does not name this clone"],
  ["refs in a reftable", { "reftable/tables.list": "" }, "its refs are kept in a reftable, which dl does not read"],
] as const)("a registration with %s is not believed", async (_, files, words) => {
  expect(await wordsOf(await adminRoot(files))).toBe(words);
});

test.each(["gitdir", "HEAD", "locked", "commondir"])("a link in place of %s is not followed", async (name) => {
  const root = await adminRoot({ locked: "" });
  renameSync(join(root, "a1", name), join(dirname(root), "moved"));
  symlinkSync(join(dirname(root), "moved"), join(root, "a1", name));
  expect(await wordsOf(root)).toBe(`/worktrees/a1/${name} is a symbolic link`);
});

test.each(["gitdir", "HEAD", "locked", "commondir"])(
  "a link to nothing in place of %s is not taken for its absence",
  async (name) => {
    const root = await adminRoot({ [name]: null });
    symlinkSync("/nonexistent", join(root, "a1", name));
    expect(await wordsOf(root)).toBe(`/worktrees/a1/${name} is a symbolic link`);
  },
);

test.each(["gitdir", "HEAD", "locked", "commondir"])("a FIFO in place of %s is not waited for", async (name) => {
  const root = await adminRoot({ [name]: null });
  execFileSync("mkfifo", [join(root, "a1", name)]);
  expect(await wordsOf(root)).toBe(`/worktrees/a1/${name} is not a regular file`);
});

test.each(["gitdir", "HEAD", "locked", "commondir"])("a directory in place of %s is not believed", async (name) => {
  const root = await adminRoot({ [name]: null });
  mkdirSync(join(root, "a1", name));
  expect(await wordsOf(root)).toBe(`/worktrees/a1/${name} is not a regular file`);
});

test("an admin directory that is a link is not followed", async () => {
  const root = await adminRoot();
  renameSync(join(root, "a1"), join(dirname(root), "moved"));
  symlinkSync(join(dirname(root), "moved"), join(root, "a1"));
  expect(await wordsOf(root)).toBe("/worktrees/a1 is a link or no directory");
});

test("a plain file among the registrations, which git's list leaves out and its prune drops, is listed", async () => {
  const root = await adminRoot();
  rmSync(join(root, "a1"), { recursive: true });
  writeFileSync(join(root, "a1"), "");
  expect(await wordsOf(root)).toBe("/worktrees/a1 is a link or no directory");
});

test("one registration that cannot be read costs itself, not the others", async () => {
  const root = await adminRoot();
  mkdirSync(join(root, "b1"));
  const listing = await readAdminDirectories(root);
  expect(listing).toMatchObject({
    kind: "listed",
    records: [
      { kind: "readable", id: "a1" },
      { kind: "unreadable", id: "b1" },
    ],
  });
});

test.each([
  [A, true],
  ["0123456789abcdef".repeat(4), true],
  ["0".repeat(40), false],
  ["0".repeat(64), false],
  ["a".repeat(39), false],
  ["a".repeat(41), false],
  ["A".repeat(40), false],
  [`^${A}`, false],
  [`${A}\n`, false],
  [` ${A}`, false],
  ["HEAD", false],
  ["", false],
])("%j can be put to git as an object: %s", (text, is) => {
  expect(isObjectId(text)).toBe(is);
});

const BRANCHES = new Map([
  ["refs/heads/a1", A],
  ["refs/heads/é/x", "e".repeat(40)],
]);

test.each([
  [A, { kind: "detached", commit: A }],
  ["b".repeat(64), { kind: "detached", commit: "b".repeat(64) }],
  ["ref: refs/heads/a1", { kind: "branch", ref: "refs/heads/a1", commit: A }],
  ["ref:\trefs/heads/a1", { kind: "branch", ref: "refs/heads/a1", commit: A }],
  ["ref: refs/heads/é/x", { kind: "branch", ref: "refs/heads/é/x", commit: "e".repeat(40) }],
  ["ref: refs/heads/never-born", { kind: "unborn", ref: "refs/heads/never-born" }],
])("HEAD %j is understood", (text, head) => {
  expect(readHead(readable(text), BRANCHES)).toEqual(head);
});

test.each([
  null,
  "",
  "nonsense",
  "0".repeat(40),
  "a".repeat(39),
  "A".repeat(40),
  "ref: ",
  "ref: refs/tags/v1",
  "ref: refs/heads/",
  "ref: refs/heads/a1 and more",
  "ref: refs/heads/a1\nref: refs/heads/main",
  "ref: refs/heads/.invalid",
  "ref: ../../../../etc/passwd",
])("HEAD %j is broken, not unborn", (text) => {
  expect(readHead(readable(text), BRANCHES).kind).toBe("broken");
});

// Two names that are no UTF-8 become one text, and the commit found under it may be the other's.
test("HEAD on a branch whose name is no UTF-8 is broken", () => {
  const branches = new Map([["refs/heads/x\uFFFD", A]]);
  expect(readHead(readable("ref: refs/heads/x\uFFFD"), branches).kind).toBe("broken");
});

test("returns the commits that the worktree's own refs hold", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const first = world.git(work, "rev-parse", "HEAD").trim();
  const [second, third] = [world.commit(work, "b"), world.commit(work, "c")];
  world.git(work, "update-ref", "refs/worktree/deep/mine", second);
  world.git(work, "bisect", "start", third, first);
  expect(new Set(await readOwnRefs(world.adminDirectory(work)))).toEqual(new Set([first, second, third]));
});

test("a worktree without refs of its own has none", async () => {
  const world = await temporaryWorld();
  expect(await readOwnRefs(world.adminDirectory(world.addWorktree("a1")))).toEqual([]);
});

/** What stands as a per-worktree ref → why it gives no answer. */
const UNREADABLE_REFS: Readonly<Record<string, { plant: (refs: string) => void; words: string }>> = {
  "a link": { plant: (refs) => symlinkSync("../../HEAD", join(refs, "worktree/mine")), words: "symbolic link" },
  "a directory that is a link": {
    plant: (refs) => symlinkSync("/tmp", join(refs, "worktree/mine")),
    words: "symbolic link",
  },
  "a FIFO": {
    plant: (refs) => execFileSync("mkfifo", [join(refs, "worktree/mine")]),
    words: "not a regular file",
  },
  "a symbolic ref": {
    plant: (refs) => writeFileSync(join(refs, "worktree/mine"), "ref: refs/heads/main\n"),
    words: "not a ref that names an object",
  },
  "text that would un-ask others": {
    plant: (refs) => writeFileSync(join(refs, "worktree/mine"), `^${A}\n`),
    words: "not a ref that names an object",
  },
  "an empty file": {
    plant: (refs) => writeFileSync(join(refs, "worktree/mine"), ""),
    words: "not a ref that names an object",
  },
  "no object": {
    plant: (refs) => writeFileSync(join(refs, "worktree/mine"), `${"0".repeat(40)}\n`),
    words: "not a ref that names an object",
  },
};

test.each(Object.entries(UNREADABLE_REFS))(
  "a per-worktree ref that is %s gives no answer",
  async (_, { plant, words }) => {
    const directory = await temporaryDirectory();
    mkdirSync(join(directory, "refs/worktree"), { recursive: true });
    plant(join(directory, "refs"));
    await expect(readOwnRefs(directory)).rejects.toThrow(words);
  },
);

test.each(["a link", "a file"])("%s in place of the refs gives no answer", async (what) => {
  const directory = await temporaryDirectory();
  if (what === "a file") writeFileSync(join(directory, "refs"), "");
  else symlinkSync("/nonexistent", join(directory, "refs"));
  await expect(readOwnRefs(directory)).rejects.toThrow("refs is not a directory");
});

/** A worktree on a branch with two commits that conflict with one of main. */
async function conflicting(): Promise<{ world: World; work: string; admin: string; theirs: string }> {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const theirs = world.commit(world.main.clone, "clash.txt", "theirs\n");
  world.commit(work, "first.txt");
  world.commit(work, "clash.txt", "ours\n");
  return { world, work, admin: world.adminDirectory(work), theirs };
}

test.each([
  [["merge"], ["merge", "main"]],
  [["rebase"], ["rebase", "main"]],
  [["rebase"], ["rebase", "--apply", "main"]],
  [["cherry-pick"], ["cherry-pick", "main"]],
  [
    ["cherry-pick", "cherry-pick or revert sequence"],
    ["cherry-pick", "HEAD~1", "main"],
  ],
  [["revert"], ["revert", "--no-commit", "HEAD"]],
  [["bisect"], ["bisect", "start", "HEAD", "HEAD~2"]],
  [["bisect"], ["bisect", "start"]],
])("%j is seen to be under way after git %j stopped", async (operations, args) => {
  const { world, work, admin } = await conflicting();
  world.tryGit(work, ...args);
  expect(await readOperations(admin)).toEqual(operations);
});

test("nothing is under way in a worktree at rest", async () => {
  const { work, admin, world } = await conflicting();
  world.tryGit(work, "merge", "main");
  world.git(work, "merge", "--abort");
  expect(await readOperations(admin)).toEqual([]);
});

test("a marker that is a link to nothing is a marker", async () => {
  const directory = await temporaryDirectory();
  symlinkSync("/nonexistent", join(directory, "MERGE_HEAD"));
  expect(await readOperations(directory)).toEqual(["merge"]);
});

test("whether something is under way cannot be told where the admin directory cannot be looked into", async () => {
  await expect(readOperations(join(await temporaryDirectory(), "x".repeat(300)))).rejects.toThrow("ENAMETOOLONG");
});

test("a merge that stopped names the commits that die with it", async () => {
  const { world, work, admin, theirs } = await conflicting();
  const before = world.git(work, "rev-parse", "HEAD").trim();
  world.tryGit(work, "merge", "main");
  expect(readFileSync(join(admin, "MERGE_HEAD"), "utf8")).toBe(`${theirs}\n`);
  expect(new Set(await readInterruptedCommits(admin))).toEqual(new Set([theirs, before]));
});

test.each([[["rebase", "--merge"]], [["rebase", "--apply"]]])(
  "git %j that stopped names its autostash among the commits that die with it",
  async (rebase) => {
    const { world, work, admin } = await conflicting();
    world.write(work, "README.md", "stashed\n");
    world.tryGit(work, ...rebase, "--autostash", "main");
    const state = rebase.includes("--merge") ? "rebase-merge" : "rebase-apply";
    const stash = readFileSync(join(admin, state, "autostash"), "utf8").trim();
    expect(world.git(work, "cat-file", "-t", stash)).toBe("commit\n");
    expect(await readInterruptedCommits(admin)).toContain(stash);
  },
);

test("a worktree at rest names no interrupted commit, only where its ORIG_HEAD says that it was", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const start = world.git(work, "rev-parse", "HEAD").trim();
  world.commit(work);
  expect(await readInterruptedCommits(world.adminDirectory(work))).toEqual([start]);
});

test("an interrupted commit behind a link is not read", async () => {
  const directory = await temporaryDirectory();
  symlinkSync("/etc/hostname", join(directory, "MERGE_HEAD"));
  await expect(readInterruptedCommits(directory)).rejects.toThrow("symbolic link");
});

test("a link in place of a rebase's state leads nowhere", async () => {
  const directory = await temporaryDirectory();
  mkdirSync(join(directory, "elsewhere"));
  writeFileSync(join(directory, "elsewhere/autostash"), `${A}\n`);
  symlinkSync("elsewhere", join(directory, "rebase-merge"));
  expect(await readInterruptedCommits(directory)).toEqual([]);
});
