import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import { findDefaultBranch, readBranches, readSymbolicRef } from "../../src/git/refs.ts";
import { stagesOf } from "../helpers/stages.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

/** Asks for the default branch of the main clone; the person has one of their own or none. */
async function defaultBranch(
  world: World,
  users: string | null = null,
  { withBare = true } = {},
): Promise<string | null> {
  const { tools } = await stagesOf(world);
  const gitDir = join(world.main.clone, ".git");
  const bare = withBare && world.main.bare !== null ? { path: world.main.bare } : null;
  return findDefaultBranch(tools.git, { gitDir, bare }, await readBranches(tools.git, gitDir), async () => users);
}

/** Returns a world whose clone says by nothing which of its branches is the default. */
async function undecided(branches: readonly string[]): Promise<World> {
  const world = await temporaryWorld({ bare: false });
  const { clone } = world.main;
  world.git(clone, "symbolic-ref", "-d", "refs/remotes/origin/HEAD");
  for (const branch of branches) if (branch !== "main") world.git(clone, "branch", branch);
  if (!branches.includes("main")) world.git(clone, "branch", "-m", "main", "renamed");
  return world;
}

test("the bare's HEAD names the default branch, before all else", async () => {
  const world = await temporaryWorld({ defaultBranch: "trunk" });
  for (const branch of ["main", "other", "mine"]) world.git(world.main.clone, "branch", branch);
  world.git(world.main.clone, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/other");
  expect(await defaultBranch(world, "mine")).toBe("refs/heads/trunk");
});

test("a branch that the bare's HEAD names and the clone lacks is no default branch, nor is any other", async () => {
  const world = await temporaryWorld();
  world.git(world.main.bare ?? "", "symbolic-ref", "HEAD", "refs/heads/elsewhere");
  expect(await defaultBranch(world, "main")).toBeNull();
});

test("a bare whose HEAD is detached does not say, and the clone is asked", async () => {
  const world = await temporaryWorld();
  const bare = world.main.bare ?? "";
  world.git(bare, "update-ref", "--no-deref", "HEAD", world.git(bare, "rev-parse", "main").trim());
  expect(await defaultBranch(world)).toBe("refs/heads/main");
});

test("a bare that cannot be read gives no answer", async () => {
  const world = await temporaryWorld();
  writeFileSync(join(world.main.bare ?? "", "HEAD"), "nonsense\n");
  await expect(defaultBranch(world)).rejects.toThrow("not a git repository");
});

test("without a bare, origin/HEAD names it, before the person's own", async () => {
  const world = await temporaryWorld({ bare: false, defaultBranch: "team/trunk" });
  world.git(world.main.clone, "branch", "main");
  expect(await defaultBranch(world, "main")).toBe("refs/heads/team/trunk");
});

test("a branch that origin/HEAD names and the clone lacks is none", async () => {
  const world = await temporaryWorld({ bare: false });
  world.git(world.main.clone, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone");
  expect(await defaultBranch(world, "main")).toBeNull();
});

test("an origin/HEAD that names no branch of origin says nothing, and the next is asked", async () => {
  const world = await temporaryWorld({ bare: false });
  world.git(world.main.clone, "branch", "agents-own");
  world.git(world.main.clone, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/agents-own");
  expect(await defaultBranch(world)).toBe("refs/heads/main");
});

test("then the person's init.defaultBranch, where the clone has it", async () => {
  expect(await defaultBranch(await undecided(["main", "master", "trunk"]), "trunk")).toBe("refs/heads/trunk");
});

test.each([
  [["main"], "refs/heads/main"],
  [["master"], "refs/heads/master"],
  [["main", "master"], null],
  [["trunk"], null],
])("then, of %j, whichever of main and master exists alone", async (branches, expected) => {
  expect(await defaultBranch(await undecided(branches), "gone")).toBe(expected);
});

test("the person is asked only where nothing else says", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const clone = { gitDir: join(world.main.clone, ".git"), bare: { path: world.main.bare ?? "" } };
  const branches = await readBranches(tools.git, clone.gitDir);
  const asked = findDefaultBranch(tools.git, clone, branches, () => Promise.reject(new Error("asked")));
  await expect(asked).resolves.toBe("refs/heads/main");
});

test("branches are read with their tips, no other ref among them", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const { clone } = world.main;
  const first = world.git(clone, "rev-parse", "HEAD").trim();
  world.git(clone, "branch", "team/é-x");
  world.git(clone, "tag", "v1");
  world.git(clone, "update-ref", "refs/worktree/mine", first);
  const second = world.commit(clone);
  expect(await readBranches(tools.git, join(clone, ".git"))).toEqual(
    new Map([
      ["refs/heads/main", second],
      ["refs/heads/team/é-x", first],
    ]),
  );
});

test("a repository without branches has none", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const empty = join(world.root, "empty");
  world.git(world.root, "init", "-q", empty);
  expect(await readBranches(tools.git, join(empty, ".git"))).toEqual(new Map());
});

test("a branch that holds no object id leaves all branches unread", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  writeFileSync(join(world.main.clone, ".git/refs/heads/broken"), "no object id\n");
  await expect(readBranches(tools.git, join(world.main.clone, ".git"))).rejects.toThrow("broken");
});

test("a branch whose commit is gone is read: whether its commit is there is asked with the commits", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  writeFileSync(join(world.main.clone, ".git/refs/heads/gone"), `${"1".repeat(40)}\n`);
  const branches = await readBranches(tools.git, join(world.main.clone, ".git"));
  expect(branches.get("refs/heads/gone")).toBe("1".repeat(40));
});

test("a symbolic ref is read by its full name, anything else is none", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const gitDir = join(world.main.clone, ".git");
  expect(await readSymbolicRef(tools.git, gitDir, "HEAD")).toBe("refs/heads/main");
  expect(await readSymbolicRef(tools.git, gitDir, "refs/remotes/origin/HEAD")).toBe("refs/remotes/origin/main");
  expect(await readSymbolicRef(tools.git, gitDir, "refs/heads/main")).toBeNull();
  expect(await readSymbolicRef(tools.git, gitDir, "refs/heads/nothing")).toBeNull();
});
