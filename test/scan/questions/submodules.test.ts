import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../../fixtures/world.ts";
import { findStores, holdsWork, storeOf } from "../../../src/scan/questions/submodules.ts";
import { stagesOf } from "../../helpers/stages.ts";
import { temporaryDirectory, temporaryWorld } from "../../helpers/temporary.ts";

interface Submodule {
  readonly world: World;
  readonly work: string;
  /** The submodule's files and its store. */
  readonly sub: string;
  readonly store: string;
  /** Runs git in the submodule. */
  readonly git: (...args: string[]) => string;
}

/** A worktree with a submodule of another repository, committed and clean. */
async function makeSubmodule(): Promise<Submodule> {
  const world = await temporaryWorld();
  const other = world.addRepository({ repo: "library" });
  const work = world.addWorktree("a1", { push: false });
  world.git(work, "submodule", "--quiet", "add", other.forge, "sub");
  world.git(work, "commit", "-q", "-m", "a submodule");
  const sub = join(work, "sub");
  // The submodule's gitfile is relative, so that it leads to its store only where the worktree's place is.
  const git = (...args: string[]): string => world.git(world.root, "-C", sub, ...args);
  return { world, work, sub, store: join(world.adminDirectory(work), "modules/sub"), git };
}

/** Asks whether the submodule holds work, and sees that nothing below repos_dir changed meanwhile. */
async function holds({ world, sub, store }: Submodule): Promise<boolean> {
  const { tools } = await stagesOf(world);
  const before = world.digest(world.reposDir);
  const answer = await holdsWork(tools, { name: "sub", gitDir: store }, sub, join(world.main.clone, "sub"));
  expect(world.digest(world.reposDir)).toBe(before);
  return answer;
}

test("a submodule as it was cut holds nothing", async () => {
  expect(await holds(await makeSubmodule())).toBe(false);
});

test("a submodule whose commit was pushed holds nothing", async () => {
  const made = await makeSubmodule();
  made.git("commit", "-q", "--allow-empty", "-m", "pushed");
  made.git("push", "-q", "origin", "HEAD:refs/heads/new");
  expect(await holds(made)).toBe(false);
});

/** What was done in a submodule that exists nowhere else. */
const WORK: Readonly<Record<string, (made: Submodule) => void>> = {
  "an edit": ({ world, sub }) => world.write(sub, "README.md", "edited\n"),
  "a staged edit": ({ world, sub, git }) => {
    world.write(sub, "README.md", "edited\n");
    git("add", "-A");
  },
  "an edit hidden by assume-unchanged": ({ world, sub, git }) => {
    git("update-index", "--assume-unchanged", "README.md");
    world.write(sub, "README.md", "edited\n");
  },
  "an untracked file": ({ world, sub }) => world.write(sub, "notes.md"),
  "an untracked file that its own exclude file hides": ({ world, sub, store }) => {
    world.write(store, "info/exclude", "*.md\n");
    world.write(sub, "notes.md");
  },
  "an ignored only copy": ({ world, sub }) => world.write(sub, "scratch/result.csv"),
  "a file that is gone": ({ sub }) => rmSync(join(sub, "README.md")),
  "a commit on its branch": ({ git }) => git("commit", "-q", "--allow-empty", "-m", "new"),
  "a detached commit": ({ git }) => {
    git("checkout", "-q", "--detach");
    git("commit", "-q", "--allow-empty", "-m", "new");
  },
  "a commit on another branch of its own": ({ git }) => {
    git("commit", "-q", "--allow-empty", "-m", "new");
    git("branch", "mine");
    git("reset", "-q", "--hard", "origin/main");
  },
  "a stash": ({ world, sub, git }) => {
    world.write(sub, "README.md", "edited\n");
    git("stash", "-q");
  },
  "a tag on a commit of its own": ({ git }) => {
    git("commit", "-q", "--allow-empty", "-m", "new");
    git("tag", "-a", "-m", "mine", "mine");
    git("reset", "-q", "--hard", "origin/main");
  },
  "a branch that is not born": ({ git }) => git("checkout", "-q", "--orphan", "new"),
  "a HEAD of no commit": ({ store }) => writeFileSync(join(store, "HEAD"), "nonsense\n"),
  "a HEAD that is gone": ({ store }) => rmSync(join(store, "HEAD")),
  "a tag of a blob": ({ git }) => git("tag", "blob", git("rev-parse", "HEAD:README.md").trim()),
};

test.each(Object.entries(WORK))("a submodule with %s holds work", async (_, act) => {
  const made = await makeSubmodule();
  act(made);
  // Either is an objection: that it holds work, and that it could not be told.
  await expect(holds(made).catch(() => true)).resolves.toBe(true);
});

// Commits that no ref names, in the files of an operation under way, die with the store.
test("a submodule in the middle of a rebase holds work", async () => {
  const made = await makeSubmodule();
  const { world, sub, git } = made;
  world.write(sub, "clash.txt", "theirs\n");
  git("add", "-A");
  git("commit", "-q", "-m", "theirs");
  git("push", "-q", "origin", "HEAD:refs/heads/theirs");
  git("reset", "-q", "--hard", "HEAD~1");
  world.write(sub, "clash.txt", "ours\n");
  git("add", "-A");
  git("commit", "-q", "-m", "ours");
  git("push", "-q", "origin", "HEAD:refs/heads/ours");
  world.write(sub, "README.md", "stashed\n");
  world.tryGit(world.root, "-C", sub, "rebase", "--autostash", "origin/theirs");
  expect(existsSync(join(made.store, "rebase-merge/autostash"))).toBe(true);
  git("checkout", "-q", "-f", "HEAD");
  expect(await holds(made)).toBe(true);
});

// The HEAD of a worktree of the store is none of its refs.
test("a submodule with a linked worktree elsewhere, on a commit of its own, holds work", async () => {
  const made = await makeSubmodule();
  const linked = join(made.world.root, "linked");
  made.git("worktree", "add", "-q", "--detach", linked);
  made.world.git(made.world.root, "-C", linked, "commit", "-q", "--allow-empty", "-m", "new");
  expect(await holds(made)).toBe(true);
});

test("a submodule whose store git cannot read gives no answer", async () => {
  const made = await makeSubmodule();
  writeFileSync(join(made.store, "refs/heads/broken"), "nonsense\n");
  await expect(holds(made)).rejects.toThrow("broken");
});

test("a submodule whose index cannot be read gives no answer", async () => {
  const made = await makeSubmodule();
  writeFileSync(join(made.store, "index"), "corrupt");
  await expect(holds(made)).rejects.toThrow("index");
});

test("what a submodule's own configuration names never runs", async () => {
  const made = await makeSubmodule();
  const { world, sub, store } = made;
  const ran = join(world.root, "RAN");
  const script = world.write(world.root, "trap.sh", `#!/bin/sh\ntouch '${ran}'\ncat\n`);
  chmodSync(script, 0o755);
  for (const name of ["core.fsmonitor", "filter.trap.clean", "core.alternateRefsCommand"])
    world.git(store, "config", "-f", join(store, "config"), name, script);
  world.write(store, "info/attributes", "* filter=trap\n");
  world.write(sub, "README.md", `# acme/LIBRARY\n`);
  expect(await holds(made)).toBe(true);
  expect(existsSync(ran)).toBe(false);
});

test("finds the stores below an admin directory, those of submodules of submodules included", async () => {
  const made = await makeSubmodule();
  const { world, work } = made;
  const third = world.addRepository({ repo: "third" });
  made.git("submodule", "--quiet", "add", third.forge, "deep/inner");
  world.git(work, "submodule", "--quiet", "add", third.forge, "vendor/third");
  const admin = world.adminDirectory(work);
  const stores = await findStores(admin);
  expect(new Map(stores.map(({ name, gitDir }) => [name, gitDir]))).toEqual(
    new Map(["sub", "sub/modules/deep/inner", "vendor/third"].map((name) => [name, join(admin, "modules", name)])),
  );
});

test("a worktree without submodules has no stores", async () => {
  const world = await temporaryWorld();
  expect(await findStores(world.adminDirectory(world.addWorktree("a1", { push: false })))).toEqual([]);
});

/** What stands below an admin directory's modules → the words of why no answer is given. */
const NO_STORES: Readonly<Record<string, { plant: (admin: string) => void; words: string }>> = {
  "a link in place of them all": {
    plant: (admin) => symlinkSync("/tmp", join(admin, "modules")),
    words: "is no directory",
  },
  "a link among them": {
    plant: (admin) => {
      mkdirSync(join(admin, "modules"));
      symlinkSync("/tmp", join(admin, "modules/sub"));
    },
    words: "is neither a submodule's store nor a directory of such",
  },
  "a file among them": {
    plant: (admin) => {
      mkdirSync(join(admin, "modules"));
      writeFileSync(join(admin, "modules/notes.md"), "");
    },
    words: "is neither a submodule's store nor a directory of such",
  },
  "a store without its objects": {
    plant: (admin) => {
      mkdirSync(join(admin, "modules/sub"), { recursive: true });
      writeFileSync(join(admin, "modules/sub/HEAD"), "");
    },
    words: "is neither a submodule's store nor a directory of such",
  },
};

test.each(Object.entries(NO_STORES))("%s gives no answer", async (_, { plant, words }) => {
  const admin = await temporaryDirectory();
  plant(admin);
  await expect(findStores(admin)).rejects.toThrow(words);
});

const STORES = ["sub", "sub/modules/deep", "vendor/third"].map((name) => ({
  name,
  gitDir: `/quarantine/modules/${name}`,
}));
const MODULES = "/repos/ws/.git/worktrees/a1/modules";
const PLACE = "/repos/ws/.claude/worktrees/a1";

test.each([
  ["sub", "gitdir: ../../../../.git/worktrees/a1/modules/sub\n", "sub"],
  ["sub", "gitdir: ../../../../.git/worktrees/a1/modules/sub", "sub"],
  ["sub", `gitdir: ${MODULES}/sub\r\n`, "sub"],
  ["vendor/third", "gitdir: ../../../../../.git/worktrees/a1/modules/vendor/third\n", "vendor/third"],
  ["sub/deep", "gitdir: ../../../../../.git/worktrees/a1/modules/sub/modules/deep\n", "sub/modules/deep"],
])("the gitfile of %s, %j, names the store %s", (path, gitfile, name) => {
  expect(storeOf(gitfile, join(PLACE, path), MODULES, STORES)?.name).toBe(name);
});

test.each([
  "",
  "nonsense",
  "gitdir: \n",
  "gitdir: ../../../../.git/worktrees/a1/modules/other\n",
  "gitdir: ../../../../.git/worktrees/a1/modules\n",
  "gitdir: ../../../../.git/worktrees/b1/modules/sub\n",
  "gitdir: ../../../../.git/modules/sub\n",
  "gitdir: /quarantine/modules/sub\n",
  "gitdir: /elsewhere/sub\n",
  "gitdir: ../../../../.git/worktrees/a1/modules/sub\nmore\n",
])("a gitfile %j names no store of this worktree", (gitfile) => {
  expect(storeOf(gitfile, join(PLACE, "sub"), MODULES, STORES)).toBeNull();
});

test("a store is told by its place, wherever its bytes lie meanwhile", async () => {
  const made = await makeSubmodule();
  const { world, work } = made;
  const admin = world.adminDirectory(work);
  renameSync(admin, join(world.root, "quarantine"));
  const stores = await findStores(join(world.root, "quarantine"));
  expect(stores).toEqual([{ name: "sub", gitDir: join(world.root, "quarantine/modules/sub") }]);
  const gitfile = "gitdir: ../../../../.git/worktrees/a1/modules/sub\n";
  expect(storeOf(gitfile, join(work, "sub"), join(admin, "modules"), stores)).toEqual(stores[0]);
});
