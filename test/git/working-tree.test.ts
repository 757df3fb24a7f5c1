import {
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import { findSmudgedLfsFiles, parseLfsPointer } from "../../src/git/lfs.ts";
import { PrivateGitDir } from "../../src/git/private-git-dir.ts";
import { hashTree } from "../../src/git/tree-hash.ts";
import { readIndex, readStatus, type StatusFacts } from "../../src/git/working-tree.ts";
import { stagesOf } from "../helpers/stages.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

interface Seen {
  readonly status: StatusFacts;
  readonly dir: PrivateGitDir;
  readonly world: World;
}

/** Asks a worktree's status in a private git directory, and sees that nothing below repos_dir changed meanwhile. */
async function look(world: World, directory: string): Promise<Seen> {
  const { tools } = await stagesOf(world);
  const commit = world.git(directory, "rev-parse", "HEAD").trim();
  const before = world.digest(world.reposDir);
  const dir = await PrivateGitDir.create(tools.temporary, {
    commit,
    objects: [join(world.main.clone, ".git/objects")],
    indexOf: world.adminDirectory(directory),
    sha256: commit.length === 64,
  });
  await readIndex(tools.git, dir, directory, () => false);
  const status = await readStatus(tools.git, dir, directory);
  expect(world.digest(world.reposDir)).toBe(before);
  return { status, dir, world };
}

const clean = { changed: [], modified: [], untracked: [], ignored: [] };

test("a fresh worktree is clean, and asking writes nothing", async () => {
  const world = await temporaryWorld();
  expect((await look(world, world.addWorktree("a1"))).status).toEqual(clean);
});

test.each(["sha1", "sha256"] as const)(
  "edits, new, ignored and staged paths are seen in a %s repository",
  async (objectFormat) => {
    const world = await temporaryWorld({ objectFormat });
    const work = world.addWorktree("a1");
    world.write(work, "README.md", "edited\n");
    world.write(work, "new file\nwith a line break", "new\n");
    world.write(work, "scratch/ignored.txt", "ignored\n");
    world.write(work, "staged.txt", "staged\n");
    world.git(work, "add", "staged.txt");
    const { status } = await look(world, work);
    expect(status).toEqual({
      changed: ["README.md", "staged.txt"],
      modified: ["README.md"],
      untracked: ["new file\nwith a line break"],
      ignored: ["scratch/"],
    });
  },
);

test.each(["--assume-unchanged", "--skip-worktree"])("an edit hidden by %s is seen", async (bit) => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  world.git(work, "update-index", bit, "README.md");
  world.write(work, "README.md", "hidden\n");
  expect((await look(world, work)).status.changed).toEqual(["README.md"]);
});

test("a file outside a sparse checkout is no deletion", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  world.git(work, "sparse-checkout", "set", "--no-cone", "/README.md");
  expect(existsSync(join(work, "src/a.txt"))).toBe(false);
  expect((await look(world, work)).status.changed).toEqual([]);
});

test("a split index is read with the part that it shares", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  world.git(work, "update-index", "--split-index");
  world.write(work, "README.md", "edited\n");
  expect((await look(world, work)).status.changed).toEqual(["README.md"]);
});

test("exclude files, untracked settings and filters of the clone hide nothing and run nothing", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const ran = join(world.root, "RAN");
  const script = world.write(world.root, "trap.sh", `#!/bin/sh\ntouch '${ran}'\ncat\n`);
  chmodSync(script, 0o755);
  world.git(world.main.clone, "config", "status.showUntrackedFiles", "no");
  world.git(world.main.clone, "config", "core.excludesFile", world.write(world.root, "excludes", "*.md\n"));
  world.git(world.main.clone, "config", "filter.trap.clean", script);
  world.git(world.main.clone, "config", "core.fileMode", "false");
  world.write(world.main.clone, ".git/info/exclude", "notes*\n");
  world.write(work, ".gitattributes", "*.txt filter=trap\n");
  world.write(work, "notes.md", "new\n");
  utimesSync(join(work, "src/a.txt"), 1, 1);
  chmodSync(join(work, "package.json"), 0o755);
  const { status } = await look(world, work);
  expect(status.untracked).toEqual([".gitattributes", "notes.md"]);
  expect(status.changed).toEqual(["package.json"]);
  expect(existsSync(ran)).toBe(false);
});

test.each(["a link", "a FIFO"])("an index that is %s is refused, not followed and not waited for", async (what) => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const admin = world.adminDirectory(work);
  renameSync(join(admin, "index"), join(world.root, "index"));
  if (what === "a link") symlinkSync(join(world.root, "index"), join(admin, "index"));
  else (await import("node:child_process")).execFileSync("mkfifo", [join(admin, "index")]);
  const { tools } = await stagesOf(world);
  const source = { commit: null, objects: [], indexOf: admin, sha256: false };
  await expect(PrivateGitDir.create(tools.temporary, source)).rejects.toThrow(/index/);
});

const POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %n\n";

test("a smudged LFS file is no edit, an edited one is", async () => {
  const { createHash } = await import("node:crypto");
  const content = "large\n".repeat(1000);
  const pointer = POINTER.replace("%s", createHash("sha256").update(content).digest("hex")).replace(
    "%n",
    String(content.length),
  );
  const world = await temporaryWorld({ seed: { "big.bin": pointer, "other.bin": pointer } });
  const work = world.addWorktree("a1");
  writeFileSync(join(work, "big.bin"), content);
  writeFileSync(join(work, "other.bin"), content.replace("large", "LARGE"));
  const { status, dir } = await look(world, work);
  expect(status.modified).toEqual(["big.bin", "other.bin"]);
  const { tools } = await stagesOf(world);
  expect(await findSmudgedLfsFiles(tools.git, dir, work, status.modified)).toEqual(new Set(["big.bin"]));
});

test.each([
  ["", null],
  ["version https://git-lfs.github.com/spec/v1\nsize 3\n", null],
  [
    `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 3\n`,
    { sha256: "a".repeat(64), size: 3 },
  ],
])("a pointer is parsed: %j", (text, pointer) => {
  expect(parseLfsPointer(text)).toEqual(pointer);
});

test.each(["sha1", "sha256"] as const)(
  "hashes a tree as git does, links, modes and odd names included (%s)",
  async (objectFormat) => {
    const world = await temporaryWorld({ objectFormat });
    const work = world.addWorktree("a1");
    world.write(work, 'a b/ünï-"q"', "odd\n");
    world.write(work, "a b.txt", "sorts before a b/\n");
    world.write(work, "a-b", "");
    symlinkSync("README.md", join(work, "link"));
    chmodSync(world.write(work, "run.sh", "#!/bin/sh\n"), 0o755);
    unlinkSync(join(work, "package.json"));
    world.git(work, "add", "-A");
    const paths = world
      .git(work, "ls-files", "-z")
      .split("\0")
      .filter((path) => path !== "");
    expect(await hashTree(work, paths, objectFormat)).toBe(world.git(work, "write-tree").trim());
    expect(readFileSync(join(work, "a-b"), "utf8")).toBe("");
  },
);
