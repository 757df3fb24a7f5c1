import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import { readAdminDirectories } from "../../src/git/admin-directory.ts";
import { decideRegistrations } from "../../src/scan/registrations.ts";
import { listWorktrees, type Listing, type Start } from "../../src/scan/worktrees.ts";
import { cloneOf } from "../helpers/clone.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

async function list(world: World, start: Start = { kind: "clone" }): Promise<Listing> {
  const clone = cloneOf(world.main);
  const admins = await readAdminDirectories(join(clone.gitDir, "worktrees"));
  const registrations = await decideRegistrations(clone, admins.kind === "listed" ? admins.records : []);
  return listWorktrees(clone, registrations, start);
}

const short = (place: string): string => place.replaceAll(".claude/worktrees/", "");

/** Each worktree's names → its registration's state, and whether it fits; each skipped entry's → its code. */
async function found(world: World, start?: Start): Promise<Record<string, string>> {
  const { worktrees, skipped } = await list(world, start);
  return Object.fromEntries([
    ...worktrees.map(({ place, registration, misfit }): [string, string] => [
      short(place),
      `${registration.state}${misfit === null ? "" : " misfit"}`,
    ]),
    ...skipped.map(({ place, code }): [string, string] => [short(place), code]),
  ]);
}

async function containerWorld(...names: readonly string[]): Promise<World> {
  const world = await temporaryWorld();
  for (const name of names) world.addWorktree(name, { push: false });
  world.containerise();
  return world;
}

const at = (world: World, name: string): string => join(world.place(), name);
const admin = (world: World, id: string): string => join(world.main.clone, ".git/worktrees", id);

function writeGitfile(directory: string, text: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, ".git"), text);
}

test("a worktree is told with its place, its bytes and the registration that stands for it", async () => {
  const world = await containerWorld("a1");
  const { dev, ino } = statSync(at(world, "a1"));
  expect(await list(world)).toEqual({
    worktrees: [
      {
        place: ".claude/worktrees/a1",
        parent: null,
        directory: at(world, "a1"),
        identity: { device: dev, inode: ino },
        gitfileId: "a1",
        registration: {
          state: "prunable",
          admin: {
            kind: "readable",
            id: "a1",
            directory: admin(world, "a1"),
            recordedPath: `${world.main.containerPath}/.claude/worktrees/a1`,
            headText: "ref: refs/heads/a1",
            lock: null,
          },
        },
        misfit: null,
      },
    ],
    skipped: [],
  });
});

test("a clone without a worktrees place has nothing", async () => {
  const world = await temporaryWorld();
  expect(await list(world)).toEqual({ worktrees: [], skipped: [] });
  mkdirSync(join(world.main.clone, ".claude"));
  expect(await list(world)).toEqual({ worktrees: [], skipped: [] });
});

test("worktrees are listed in the order of their names, parents before what is nested in them, to any depth", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a", { push: false });
  world.addWorktree("z", {
    inside: world.addWorktree("m", { inside: world.addWorktree("b", { push: false }), push: false }),
    push: false,
  });
  world.addWorktree("n", { inside: a, push: false });
  world.containerise();
  const { worktrees } = await list(world);
  expect(worktrees.map(({ place, parent }) => [short(place), parent === null ? null : short(parent)])).toEqual([
    ["a", null],
    ["a/n", "a"],
    ["b", null],
    ["b/m", "b"],
    ["b/m/z", "b/m"],
  ]);
  expect(new Set(worktrees.map(({ registration, misfit }) => `${registration.state} ${misfit}`))).toEqual(
    new Set(["prunable null"]),
  );
});

test("registrations are joined by place, whatever the admin directory is called", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a", { push: false });
  world.addWorktree("same", { push: false });
  world.addWorktree("same", { inside: a, branch: "same-too", push: false });
  world.containerise();
  const { worktrees } = await list(world);
  expect(Object.fromEntries(worktrees.map((one) => [short(one.place), one.gitfileId]))).toEqual({
    a: "a",
    "a/same": "same1",
    same: "same",
  });
  expect(await found(world)).toEqual({ a: "prunable", "a/same": "prunable", same: "prunable" });
});

test("each state of a registration is told", async () => {
  const world = await temporaryWorld();
  for (const name of ["forgotten", "live", "locked", "prunable", "unreadable"])
    world.addWorktree(name, { push: false });
  world.lock(at(world, "locked"), "why");
  world.containerise();
  world.forget(at(world, "forgotten"));
  writeFileSync(join(admin(world, "live"), "gitdir"), `${at(world, "live")}/.git\n`);
  rmSync(join(admin(world, "unreadable"), "gitdir"));
  expect(await found(world)).toEqual({
    forgotten: "none",
    live: "live",
    locked: "locked",
    prunable: "prunable",
    unreadable: "unreadable",
  });
});

test("a gitfile may name the clone by its own path, a container's, another that its registrations record, or relatively", async () => {
  const world = await containerWorld("a1", "b1", "c1", "d1");
  writeFileSync(join(admin(world, "a1"), "gitdir"), "/mnt/ws/.claude/worktrees/a1/.git\n");
  writeGitfile(at(world, "a1"), "gitdir: /mnt/ws/.git/worktrees/a1\n");
  writeGitfile(at(world, "b1"), `gitdir: ${world.main.clone}/.git/worktrees/b1\n`);
  writeGitfile(at(world, "d1"), "gitdir: ../../../.git/worktrees/d1\n");
  expect(await found(world)).toEqual({ a1: "prunable", b1: "prunable", c1: "prunable", d1: "prunable" });
});

test("relative paths of a registration and a gitfile are joined, as newer gits write them", async () => {
  const world = await containerWorld("a1");
  writeGitfile(at(world, "a1"), "gitdir: ../../../.git/worktrees/a1\n");
  writeFileSync(join(admin(world, "a1"), "gitdir"), "../../../.claude/worktrees/a1/.git\n");
  expect(await found(world)).toEqual({ a1: "live" });
});

/** An entry of a worktrees place that is no worktree of this clone → its code. */
const SKIPPED: Readonly<Record<string, { code: string; make: (path: string, world: World) => void }>> = {
  "a plain directory": { code: "not-a-worktree", make: (path) => mkdirSync(path) },
  "a file": { code: "not-a-worktree", make: (path) => writeFileSync(path, "") },
  "a FIFO": { code: "not-a-worktree", make: (path) => execFileSync("mkfifo", [path]) },
  "a link to a worktree": { code: "symlink", make: (path) => symlinkSync("a1", path) },
  "a link to nothing": { code: "symlink", make: (path) => symlinkSync("/nonexistent", path) },
  "a repository of its own": {
    code: "other-repository",
    make: (path, world) => world.git(world.root, "init", "-q", path),
  },
  "a worktree of another clone": {
    code: "other-repository",
    make: (path) => writeGitfile(path, "gitdir: /workspaces/other/.git/worktrees/a1\n"),
  },
  "a worktree of another clone beside this one": {
    code: "other-repository",
    make: (path, world) => writeGitfile(path, `gitdir: ${world.addClone("ws2").clone}/.git/worktrees/a1\n`),
  },
  "a worktree of the bare": {
    code: "other-repository",
    make: (path, world) => writeGitfile(path, `gitdir: ${world.main.bare}/worktrees/a1\n`),
  },
  "a submodule": { code: "other-repository", make: (path) => writeGitfile(path, "gitdir: ../../../.git/modules/x\n") },
  "a relative gitfile that leads elsewhere": {
    code: "other-repository",
    make: (path) => writeGitfile(path, "gitdir: ../../.git/worktrees/a1\n"),
  },
  "a gitfile without sense": { code: "unreadable-gitfile", make: (path) => writeGitfile(path, "nonsense\n") },
  "an empty gitfile": { code: "unreadable-gitfile", make: (path) => writeGitfile(path, "") },
  "a huge gitfile": {
    code: "unreadable-gitfile",
    make: (path) => writeGitfile(path, `gitdir: ${"/x".repeat(100_000)}`),
  },
  "a gitfile that is a link": {
    code: "unreadable-gitfile",
    make: (path) => {
      mkdirSync(path);
      symlinkSync("../a1/.git", join(path, ".git"));
    },
  },
  "a gitfile that is a FIFO": {
    code: "unreadable-gitfile",
    make: (path) => {
      mkdirSync(path);
      execFileSync("mkfifo", [join(path, ".git")]);
    },
  },
};

test.each(Object.entries(SKIPPED))("%s is skipped, and what lies beside it is not", async (_, { code, make }) => {
  const world = await containerWorld("a1");
  make(at(world, "x"), world);
  expect(await found(world)).toEqual({ a1: "prunable", x: code });
});

// macOS takes no such name.
test.skipIf(platform() === "darwin")(
  "a name that is no UTF-8 is skipped, even where another entry has the name that it is read as",
  async () => {
    const world = await containerWorld("a1");
    const odd = Buffer.concat([Buffer.from(`${world.place()}/x`), Buffer.from([0xff])]);
    mkdirSync(odd);
    writeGitfile(at(world, "x\uFFFD"), `gitdir: ${world.main.containerPath}/.git/worktrees/a1\n`);
    expect(await found(world)).toEqual({ a1: "prunable", "x\uFFFD": "not-a-worktree" });
    expect(existsSync(odd)).toBe(true);
  },
);

test("what is skipped is not looked into", async () => {
  const world = await containerWorld("a1");
  mkdirSync(join(at(world, "plain"), ".claude/worktrees"), { recursive: true });
  renameSync(at(world, "a1"), join(at(world, "plain"), ".claude/worktrees/a1"));
  expect(await found(world)).toEqual({ plain: "not-a-worktree" });
});

test("a skipped entry inside a worktree is told with that worktree", async () => {
  const world = await containerWorld("a1");
  mkdirSync(join(world.place(at(world, "a1")), "x"), { recursive: true });
  expect((await list(world)).skipped).toEqual([
    {
      place: ".claude/worktrees/a1/.claude/worktrees/x",
      parent: ".claude/worktrees/a1",
      code: "not-a-worktree",
      detail: "a plain directory without a gitfile",
    },
  ]);
});

test.each([".claude", ".claude/worktrees"])("a link in place of a clone's %s is not followed", async (part) => {
  const world = await containerWorld("a1");
  renameSync(join(world.main.clone, part), join(world.root, "moved"));
  symlinkSync(join(world.root, "moved"), join(world.main.clone, part));
  expect(await list(world)).toEqual({ worktrees: [], skipped: [] });
});

test.each([".claude", ".claude/worktrees"])("a link in place of a worktree's %s is not followed", async (part) => {
  const world = await containerWorld("a1", "b1");
  const path = join(at(world, "a1"), part);
  mkdirSync(join(path, ".."), { recursive: true });
  symlinkSync(part === ".claude" ? join(world.main.clone, ".claude") : world.place(), path);
  expect(await found(world)).toEqual({ a1: "prunable", b1: "prunable" });
});

test.each([".claude", ".claude/worktrees"])("a file in place of %s holds nothing", async (part) => {
  const world = await temporaryWorld();
  world.write(world.main.clone, part, "");
  expect(await list(world)).toEqual({ worktrees: [], skipped: [] });
});

test("only worktrees places are looked into, by their name in full", async () => {
  const world = await containerWorld("a1");
  for (const place of ["worktrees", ".claude/worktree", ".claude/worktrees-old", "src/.claude/worktrees"])
    cpSync(at(world, "a1"), join(world.main.clone, place, "agent-x"), { recursive: true });
  expect(await found(world)).toEqual({ a1: "prunable" });
});

test("a worktree that was moved is no forgotten one: its registration records where it was", async () => {
  const world = await containerWorld("a1");
  renameSync(at(world, "a1"), at(world, "moved"));
  expect(await found(world)).toEqual({ moved: "prunable misfit" });
});

test("a copy of a worktree that still stands is forgotten, the worktree itself is not", async () => {
  const world = await containerWorld("a1");
  cpSync(at(world, "a1"), at(world, "copy"), { recursive: true });
  expect(await found(world)).toEqual({ a1: "prunable", copy: "none" });
});

test.each(["a plain directory", "another worktree", "a link to the copy"])(
  "a copy of a worktree is none while %s stands where that was",
  async (what) => {
    const world = await containerWorld("a1", "b1");
    renameSync(at(world, "a1"), at(world, "copy"));
    if (what === "a plain directory") mkdirSync(at(world, "a1"));
    else if (what === "another worktree") renameSync(at(world, "b1"), at(world, "a1"));
    else symlinkSync("copy", at(world, "a1"));
    expect(await found(world)).toMatchObject({ copy: "prunable misfit" });
  },
);

test("two registrations that record one place leave open which stands for it", async () => {
  const world = await containerWorld("a1");
  cpSync(admin(world, "a1"), admin(world, "a2"), { recursive: true });
  expect(await found(world)).toEqual({ a1: "prunable misfit" });
});

test("a directory whose gitfile names one registration while another records its place fits neither", async () => {
  const world = await containerWorld("a1");
  const gitfile = readFileSync(join(at(world, "a1"), ".git"), "utf8");
  writeFileSync(join(at(world, "a1"), ".git"), gitfile.replace(/a1\n$/, "gone\n"));
  const { worktrees } = await list(world);
  expect(worktrees.map(({ misfit }) => misfit)).toEqual([
    "registration a1 records this place, but its gitfile names gone",
  ]);
});

test("two directories that changed places fit neither registration", async () => {
  const world = await containerWorld("a1", "b1");
  renameSync(at(world, "a1"), join(world.root, "a1"));
  renameSync(at(world, "b1"), at(world, "a1"));
  renameSync(join(world.root, "a1"), at(world, "b1"));
  expect(await found(world)).toEqual({ a1: "prunable misfit", b1: "prunable misfit" });
});

test("a registration that cannot be read stands for the directory whose gitfile names it", async () => {
  const world = await containerWorld("a1");
  renameSync(admin(world, "a1"), join(world.root, "moved"));
  symlinkSync(join(world.root, "moved"), admin(world, "a1"));
  expect(await found(world)).toEqual({ a1: "unreadable" });
});

test("a subtree is listed from its root alone, wherever its bytes are", async () => {
  const world = await temporaryWorld();
  const a1 = world.addWorktree("a1", { push: false });
  world.addWorktree("n1", { inside: a1, push: false });
  world.addWorktree("b1", { push: false });
  world.containerise();
  const directory = join(world.root, "quarantine");
  renameSync(a1, directory);
  const start = { kind: "subtree", place: ".claude/worktrees/a1", parent: null, directory } as const;
  expect(await found(world, start)).toEqual({ a1: "prunable", "a1/n1": "prunable" });
  const { worktrees } = await list(world, start);
  expect(worktrees.map((one) => one.directory)).toEqual([directory, join(directory, ".claude/worktrees/n1")]);
});

test("a subtree whose root is gone is empty", async () => {
  const world = await containerWorld("a1");
  const start = {
    kind: "subtree",
    place: ".claude/worktrees/a1",
    parent: null,
    directory: join(world.root, "gone"),
  } as const;
  expect(await list(world, start)).toEqual({ worktrees: [], skipped: [] });
});

test.skipIf(process.getuid?.() === 0)("a worktrees place that may not be read is no empty one", async () => {
  const world = await containerWorld("a1");
  chmodSync(world.place(), 0);
  await expect(list(world)).rejects.toThrow("EACCES");
});
