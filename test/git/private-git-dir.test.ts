import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PrivateGitDir } from "../../src/git/private-git-dir.ts";
import { stagesOf } from "../helpers/stages.ts";
import { privateGitDirOf } from "../helpers/private-git-dir.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

test("holds a HEAD, settings of its own and a copy of the index, and nothing of the clone's", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  world.git(world.main.clone, "config", "core.fsmonitor", "/nonexistent");
  const { tools } = await stagesOf(world);
  const { path } = await privateGitDirOf(world, tools, work);
  expect(readdirSync(path).toSorted()).toEqual(["HEAD", "config", "index", "info", "objects", "refs"]);
  expect(readdirSync(join(path, "info"))).toEqual([]);
  expect(readFileSync(join(path, "HEAD"), "utf8")).toBe(world.git(work, "rev-parse", "HEAD"));
  expect(readFileSync(join(path, "index"))).toEqual(readFileSync(join(world.adminDirectory(work), "index")));
  expect(readFileSync(join(path, "config"), "utf8")).not.toContain("fsmonitor");
});

test("is made and used without a byte written below repos_dir", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const { tools } = await stagesOf(world);
  const before = world.digest(world.reposDir);
  const dir = await privateGitDirOf(world, tools, work);
  await tools.git.run({ gitDir: dir.path, workTree: work, args: ["add", "-A"] });
  await tools.git.run({ gitDir: dir.path, workTree: work, args: ["write-tree"] });
  dir.remove();
  expect(world.digest(world.reposDir)).toBe(before);
});

test("is gone when it is removed, and removing it again does no harm", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const dir = await privateGitDirOf(world, tools, world.addWorktree("a1"));
  dir.remove();
  dir.remove();
  expect(existsSync(dir.path)).toBe(false);
});

test("a HEAD that is not born is none", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const dir = await PrivateGitDir.create(tools.temporary, { commit: null, objects: [], indexOf: null, sha256: false });
  const call = { gitDir: dir.path, args: ["rev-parse", "-q", "--verify", "HEAD"], exitCodes: [0, 1] };
  expect((await tools.git.run(call)).exitCode).toBe(1);
});

test.each(['a "quoted" \\ name', "a\nline break", "# no comment", "é", "a:b"])(
  "borrows from an object directory whose path holds %j",
  async (name) => {
    const world = await temporaryWorld();
    const { tools } = await stagesOf(world);
    const clone = join(world.root, name);
    renameSync(world.main.clone, clone);
    const commit = world.git(clone, "rev-parse", "HEAD").trim();
    const source = { commit, objects: [join(clone, ".git/objects")], indexOf: null, sha256: false };
    const dir = await PrivateGitDir.create(tools.temporary, source);
    const { stdout } = await tools.git.run({ gitDir: dir.path, args: ["cat-file", "-t", commit] });
    expect(stdout.toString()).toBe("commit\n");
  },
);

test("borrows from several object directories", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const other = world.addRepository({ repo: "gadget" });
  const commits = [world.commit(world.main.clone), world.commit(other.clone)];
  const objects = [world.main.clone, other.clone].map((clone) => join(clone, ".git/objects"));
  const dir = await PrivateGitDir.create(tools.temporary, {
    commit: commits[0] ?? "",
    objects,
    indexOf: null,
    sha256: false,
  });
  for (const commit of commits) {
    const { stdout } = await tools.git.run({ gitDir: dir.path, args: ["cat-file", "-t", commit] });
    expect(stdout.toString()).toBe("commit\n");
  }
});

test("an index that is not there is not copied", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  rmSync(join(world.adminDirectory(work), "index"));
  const { tools } = await stagesOf(world);
  const { path } = await privateGitDirOf(world, tools, work);
  expect(existsSync(join(path, "index"))).toBe(false);
});

test("a shared index is copied, and only what has the form of one", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  world.git(work, "update-index", "--split-index");
  const admin = world.adminDirectory(work);
  const shared = readdirSync(admin).filter((name) => name.startsWith("sharedindex."));
  expect(shared).toHaveLength(1);
  for (const name of ["sharedindex.x", "sharedindex.tmp_abc", `sharedindex.${"A".repeat(40)}`])
    writeFileSync(join(admin, name), "");
  const { tools } = await stagesOf(world);
  const { path } = await privateGitDirOf(world, tools, work);
  expect(readdirSync(path).filter((name) => name.startsWith("sharedindex."))).toEqual(shared);
});

test("a heap of shared indexes is refused, not copied", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  for (let n = 0; n < 9; n++)
    writeFileSync(join(world.adminDirectory(work), `sharedindex.${String(n).repeat(40)}`), "");
  const { tools } = await stagesOf(world);
  await expect(privateGitDirOf(world, tools, work)).rejects.toThrow("holds 9 shared indexes");
});

/** What stands in place of an index → the words with which it is refused. */
const NO_INDEX: Readonly<Record<string, { plant: (path: string, elsewhere: string) => void; words: RegExp }>> = {
  "a link": { plant: (path, elsewhere) => symlinkSync(elsewhere, path), words: /symbolic link/ },
  "a FIFO": { plant: (path) => execFileSync("mkfifo", [path]), words: /is not a regular file/ },
  "a directory": { plant: (path) => mkdirSync(path), words: /is not a regular file/ },
  "larger than any index": {
    plant: (path) => {
      writeFileSync(path, "");
      truncateSync(path, 2 ** 30 + 1);
    },
    words: /is larger than 1073741824 bytes/,
  },
};

const CASES = Object.keys(NO_INDEX).flatMap((what) =>
  ["index", `sharedindex.${"a".repeat(40)}`].map((name) => [name, what] as const),
);

test.each(CASES)(
  "an admin directory whose %s is %s is refused, not followed and not waited for",
  async (name, what) => {
    const world = await temporaryWorld();
    const work = world.addWorktree("a1");
    const path = join(world.adminDirectory(work), name);
    renameSync(join(world.adminDirectory(work), "index"), join(world.root, "index"));
    NO_INDEX[what]?.plant(path, join(world.root, "index"));
    const { tools } = await stagesOf(world);
    const source = { commit: null, objects: [], indexOf: world.adminDirectory(work), sha256: false };
    await expect(PrivateGitDir.create(tools.temporary, source)).rejects.toThrow(NO_INDEX[what]?.words);
  },
);

test("an admin directory that is gone is refused", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const source = { commit: null, objects: [], indexOf: join(world.root, "gone"), sha256: false };
  await expect(PrivateGitDir.create(tools.temporary, source)).rejects.toThrow("ENOENT");
});
