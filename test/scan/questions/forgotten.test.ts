import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../../fixtures/world.ts";
import { readBranches } from "../../../src/git/refs.ts";
import { readStatus } from "../../../src/git/working-tree.ts";
import type { Worktree } from "../../../src/model/worktree.ts";
import { makeForgottenGitDir } from "../../../src/scan/questions/forgotten.ts";
import { cloneOf } from "../../helpers/clone.ts";
import { stagesOf } from "../../helpers/stages.ts";
import { temporaryWorld } from "../../helpers/temporary.ts";

/** Leaves a worktree as git leaves one that it forgot: its registration is gone, its gitfile names a container's path. */
function forget(world: World, directory: string): void {
  world.containerise();
  rmSync(world.adminDirectory(directory), { recursive: true });
}

function worktreeAt(directory: string, name: string): Worktree {
  const { dev, ino } = statSync(directory);
  return {
    place: `.claude/worktrees/${name}`,
    parent: null,
    directory,
    identity: { device: dev, inode: ino },
    gitfileId: name,
    registration: { state: "none" },
    misfit: null,
  };
}

/** Returns the commit that a forgotten directory is compared with, and what in it differs from that commit. */
async function compared(
  world: World,
  directory: string,
  name = "a1",
): Promise<{ commit: string; changed: readonly string[]; untracked: readonly string[] }> {
  const { tools } = await stagesOf(world);
  const clone = cloneOf(world.main);
  const branches = await readBranches(tools.git, clone.gitDir);
  const before = world.digest(world.reposDir);
  const { gitDir: dir } = await makeForgottenGitDir(tools, clone, worktreeAt(directory, name), branches);
  const { changed, untracked } = await readStatus(tools.git, dir, directory);
  expect(world.digest(world.reposDir)).toBe(before);
  return { commit: readFileSync(join(dir.path, "HEAD"), "utf8").trim(), changed, untracked };
}

const head = (world: World, directory: string): string => world.git(directory, "rev-parse", "HEAD").trim();

test.each(["sha1", "sha256"] as const)(
  "is compared with the commit that has just its content (%s)",
  async (objectFormat) => {
    const world = await temporaryWorld({ objectFormat });
    const work = world.addWorktree("a1");
    const commit = world.commit(work);
    world.push(work);
    forget(world, work);
    expect(await compared(world, work)).toEqual({ commit, changed: [], untracked: [] });
  },
);

test("is found in old history, though no branch has its name", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("old", { detach: true });
  const commit = head(world, work);
  for (const name of ["one", "two"]) world.commit(world.main.clone, name);
  world.push(world.main.clone);
  forget(world, work);
  expect(await compared(world, work, "old")).toEqual({ commit, changed: [], untracked: [] });
});

test("is found by content, links, modes and odd names included", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1", { branch: "another-name" });
  world.git(work, "config", "core.quotePath", "true");
  for (const name of ["a b", "é", "run.sh", "d/e/f"]) world.write(work, name);
  world.git(work, "add", "-A");
  world.git(work, "update-index", "--chmod=+x", "run.sh");
  world.git(work, "commit", "-q", "-m", "odd");
  world.git(work, "checkout", "-q", ".");
  const commit = head(world, work);
  world.push(work);
  forget(world, work);
  expect(await compared(world, work)).toEqual({ commit, changed: [], untracked: [] });
});

test("ignored files beside its content are no part of it", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1", { branch: "another-name" });
  const commit = world.commit(work);
  world.push(work);
  world.nodeModules(work);
  forget(world, work);
  expect(await compared(world, work)).toEqual({ commit, changed: [], untracked: [] });
});

test("a worktree nested in it is no part of its content", async () => {
  const world = await temporaryWorld({ seed: { ".gitignore": "*.log\n" } });
  const work = world.addWorktree("a1", { branch: "another-name" });
  const commit = world.commit(work);
  world.push(work);
  world.addWorktree("n1", { inside: work });
  forget(world, work);
  expect(await compared(world, work)).toMatchObject({ commit, changed: [] });
});

test("the commit of an only copy in the clone is not what it is compared with", async () => {
  const world = await temporaryWorld();
  const main = head(world, world.main.clone);
  const work = world.addWorktree("a1", { push: false });
  world.commit(work);
  forget(world, work);
  expect(await compared(world, work)).toEqual({ commit: main, changed: [], untracked: ["work.md"] });
});

test("the commit of an archive or of a replace ref is not what it is compared with", async () => {
  const world = await temporaryWorld();
  const main = head(world, world.main.clone);
  const work = world.addWorktree("a1", { push: false });
  const commit = world.commit(work);
  for (const ref of ["refs/dl/archive/2026-01-31/ws/a1", `refs/replace/${main}`])
    world.git(world.main.bare ?? "", "fetch", "-q", world.main.clone, `${commit}:${ref}`);
  forget(world, work);
  expect(await compared(world, work)).toEqual({ commit: main, changed: [], untracked: ["work.md"] });
});

test("with an edit, it is compared with the branch of its name", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const commit = world.commit(work);
  world.push(work);
  world.write(work, "README.md", "edited\n");
  forget(world, work);
  expect(await compared(world, work)).toEqual({ commit, changed: ["README.md"], untracked: [] });
});

test.each([
  ["worktree-a1", "the harness's own name for its branch"],
  ["gone1", "the name of its registration"],
])("with an edit, it is compared with %s: %s", async (branch) => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1", { branch });
  const commit = world.commit(work);
  world.push(work);
  world.write(work, "README.md", "edited\n");
  forget(world, work);
  const { tools } = await stagesOf(world);
  const clone = cloneOf(world.main);
  const worktree = { ...worktreeAt(work, "a1"), gitfileId: "gone1" };
  const { gitDir: dir } = await makeForgottenGitDir(
    tools,
    clone,
    worktree,
    await readBranches(tools.git, clone.gitDir),
  );
  expect(readFileSync(join(dir.path, "HEAD"), "utf8").trim()).toBe(commit);
});

test("with an edit, the nearest of several is taken", async () => {
  const world = await temporaryWorld();
  const far = world.addWorktree("far", { branch: "a1" });
  for (const name of ["x", "y", "z"]) world.commit(far, name);
  world.push(far);
  const main = head(world, world.main.clone);
  const work = world.addWorktree("near", { detach: true });
  world.write(work, "README.md", "edited\n");
  forget(world, work);
  expect(await compared(world, work, "a1")).toEqual({ commit: main, changed: ["README.md"], untracked: [] });
});

test("a branch of its name that was not pushed is not what it is compared with", async () => {
  const world = await temporaryWorld();
  const main = head(world, world.main.clone);
  const work = world.addWorktree("a1", { push: false });
  world.commit(work);
  world.write(work, "README.md", "edited\n");
  forget(world, work);
  expect(await compared(world, work)).toEqual({ commit: main, changed: ["README.md"], untracked: ["work.md"] });
});

test("without a bare, the clone's own safe refs are searched", async () => {
  const world = await temporaryWorld({ bare: false });
  const work = world.addWorktree("a1", { branch: "another-name" });
  const commit = world.commit(work);
  world.push(work);
  forget(world, work);
  expect(await compared(world, work)).toEqual({ commit, changed: [], untracked: [] });
});

test("a commit that only the bare has is found", async () => {
  const world = await temporaryWorld();
  const other = world.addClone("ws2");
  const commit = world.commit(other.clone);
  world.push(other.clone);
  const work = world.addWorktree("a1", { detach: true });
  world.write(work, "work.md", readFileSync(join(other.clone, "work.md"), "utf8"));
  forget(world, work);
  expect(await compared(world, work)).toEqual({ commit, changed: [], untracked: [] });
});

test("filters that the clone names for its content do not run", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1", { branch: "another-name" });
  world.commit(work, ".gitattributes", "*.md filter=trap\n");
  world.push(work);
  forget(world, work);
  const ran = join(world.root, "RAN");
  world.git(world.main.clone, "config", "filter.trap.clean", `touch '${ran}'; cat`);
  world.git(world.main.clone, "config", "core.fsmonitor", `touch '${ran}'`);
  expect((await compared(world, work)).changed).toEqual([]);
  expect(existsSync(ran)).toBe(false);
});

test("a repository without any safe commit gives no answer", async () => {
  const world = await temporaryWorld({ bare: false });
  const work = world.addWorktree("a1", { push: false });
  world.commit(work);
  forget(world, work);
  world.git(world.main.clone, "checkout", "-q", "--detach");
  for (const ref of world.git(world.main.clone, "for-each-ref", "--format=%(refname)").trim().split("\n"))
    world.git(world.main.clone, "update-ref", "--no-deref", "-d", ref);
  await expect(compared(world, work)).rejects.toThrow("no commit that a safe ref reaches could be compared with it");
});

test("its own private git directories are taken away again, but for the one that is returned", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  world.write(work, "README.md", "edited\n");
  forget(world, work);
  const { tools } = await stagesOf(world);
  const clone = cloneOf(world.main);
  const { gitDir: dir } = await makeForgottenGitDir(
    tools,
    clone,
    worktreeAt(work, "a1"),
    await readBranches(tools.git, clone.gitDir),
  );
  dir.remove();
  expect(world.digest(tools.temporary.path).split("\n")).toHaveLength(1);
});
