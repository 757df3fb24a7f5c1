import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../../fixtures/world.ts";
import { findEmbedded } from "../../../src/scan/questions/embedded.ts";
import { cloneOf } from "../../helpers/clone.ts";
import { stagesOf } from "../../helpers/stages.ts";
import { temporaryWorld } from "../../helpers/temporary.ts";

/** Returns the repositories in the worktree a1 that hold, or may hold, what exists nowhere else. */
async function embedded(world: World, directory: string, registered = true): Promise<string[]> {
  const { tools } = await stagesOf(world);
  const { gitEntries, bareRepositories } = await tools.trees.read(directory, {});
  const admin = registered ? { id: "a1", directory: world.adminDirectory(directory) } : null;
  const tree = { place: ".claude/worktrees/a1", directory, gitEntries, bareRepositories };
  return findEmbedded(tools, { clone: cloneOf(world.main), admin, tree });
}

async function makeWorktree(): Promise<{ world: World; work: string }> {
  const world = await temporaryWorld();
  return { world, work: world.addWorktree("a1", { push: false }) };
}

/** Adds a submodule of another repository to a worktree and commits it. */
function addSubmodule(world: World, work: string, name = "sub"): string {
  const other = world.addRepository({ repo: "library" });
  world.git(work, "submodule", "--quiet", "add", other.forge, name);
  world.git(work, "commit", "-q", "-m", "a submodule");
  return join(work, name);
}

test("a worktree's own gitfile is no repository inside it", async () => {
  const { world, work } = await makeWorktree();
  expect(await embedded(world, work)).toEqual([]);
});

/** A repository inside a worktree → the path by which it is named. */
const REPOSITORIES: Readonly<Record<string, { make: (world: World, work: string) => unknown; named: string }>> = {
  "without commits": { make: (world, work) => world.git(world.root, "init", "-q", join(work, "tool")), named: "tool" },
  "in an ignored directory": {
    make: (world, work) => world.git(world.root, "init", "-q", join(work, "scratch/deep/tool")),
    named: "scratch/deep/tool",
  },
  "that is a clone with everything pushed": {
    make: (world, work) => world.git(world.root, "clone", "-q", world.main.forge, join(work, "tool")),
    named: "tool",
  },
  "that is bare": {
    make: (world, work) => world.git(world.root, "init", "-q", "--bare", join(work, "store.git")),
    named: "store.git",
  },
  "whose git directory is a link": {
    make: (world, work) => {
      mkdirSync(join(work, "tool"));
      symlinkSync(join(world.main.clone, ".git"), join(work, "tool/.git"));
    },
    named: "tool",
  },
  "that is a worktree of another clone": {
    make: (world, work) =>
      world.git(world.addClone("ws2").clone, "worktree", "add", "-q", "--detach", join(work, "tool")),
    named: "tool",
  },
  "that is a worktree of this clone outside every worktrees place": {
    make: (world, work) => world.git(world.main.clone, "worktree", "add", "-q", "--detach", join(work, "tool")),
    named: "tool",
  },
  "with a gitfile that makes no sense": {
    make: (_, work) => {
      mkdirSync(join(work, "tool"));
      writeFileSync(join(work, "tool/.git"), "nonsense\n");
    },
    named: "tool",
  },
};

test.each(Object.entries(REPOSITORIES))("a repository %s is told", async (_, { make, named }) => {
  const { world, work } = await makeWorktree();
  make(world, work);
  expect(await embedded(world, work)).toEqual([named]);
});

test("a submodule that exists elsewhere is none", async () => {
  const { world, work } = await makeWorktree();
  addSubmodule(world, work);
  expect(await embedded(world, work)).toEqual([]);
});

test("a submodule that was never filled is none", async () => {
  const { world, work } = await makeWorktree();
  addSubmodule(world, work);
  world.git(work, "submodule", "--quiet", "deinit", "--force", "sub");
  rmSync(join(world.adminDirectory(work), "modules"), { recursive: true });
  expect(await embedded(world, work)).toEqual([]);
});

test("a submodule with an edit or a commit of its own is told by its path", async () => {
  const { world, work } = await makeWorktree();
  const sub = addSubmodule(world, work, "vendor/library");
  world.write(sub, "README.md", "edited\n");
  expect(await embedded(world, work)).toEqual(["vendor/library"]);
  world.git(world.root, "-C", sub, "checkout", "-q", ".");
  world.git(world.root, "-C", sub, "commit", "-q", "--allow-empty", "-m", "new");
  expect(await embedded(world, work)).toEqual(["vendor/library"]);
});

test("a submodule's store without files beside it is told: nobody looked at it whole", async () => {
  const { world, work } = await makeWorktree();
  const sub = addSubmodule(world, work);
  world.git(work, "submodule", "--quiet", "deinit", "--force", "sub");
  rmSync(sub, { recursive: true });
  expect(await embedded(world, work)).toEqual([".git/modules/sub"]);
});

test("a submodule whose gitfile names another store than its own is told, and so is the store", async () => {
  const { world, work } = await makeWorktree();
  const sub = addSubmodule(world, work);
  writeFileSync(join(sub, ".git"), "gitdir: /elsewhere/.git/modules/sub\n");
  expect(await embedded(world, work)).toEqual(["sub", ".git/modules/sub"]);
});

test("two directories that name one store are both looked at", async () => {
  const { world, work } = await makeWorktree();
  const sub = addSubmodule(world, work);
  world.git(
    world.root,
    "clone",
    "-q",
    "--no-hardlinks",
    join(world.adminDirectory(work), "modules/sub"),
    join(work, "twin"),
  );
  rmSync(join(work, "twin/.git"), { recursive: true });
  writeFileSync(join(work, "twin/.git"), "gitdir: ../../../../.git/worktrees/a1/modules/sub\n");
  world.write(work, "twin/notes.md");
  expect(await embedded(world, work)).toEqual(["twin"]);
  world.write(sub, "notes.md");
  expect((await embedded(world, work)).toSorted()).toEqual(["sub", "twin"]);
});

test("the submodule of a directory that git forgot has no store left, and is told", async () => {
  const { world, work } = await makeWorktree();
  addSubmodule(world, work);
  rmSync(world.adminDirectory(work), { recursive: true });
  expect(await embedded(world, work, false)).toEqual(["sub"]);
});

test("of a registration without a directory, every store is told", async () => {
  const { world, work } = await makeWorktree();
  addSubmodule(world, work);
  const admin = { id: "a1", directory: world.adminDirectory(work) };
  rmSync(work, { recursive: true });
  const { tools } = await stagesOf(world);
  expect(await findEmbedded(tools, { clone: cloneOf(world.main), admin, tree: null })).toEqual([".git/modules/sub"]);
});

test("stores that cannot be listed give no answer", async () => {
  const { world, work } = await makeWorktree();
  symlinkSync("/tmp", join(world.adminDirectory(work), "modules"));
  await expect(embedded(world, work)).rejects.toThrow("is no directory");
});
