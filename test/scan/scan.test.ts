import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import type { PlannedClone } from "../../src/plan/plan.ts";
import { FORCE, NO_FLAGS, stagesOf } from "../helpers/stages.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

/** Name of each worktree → its class and the codes of its reasons. */
async function judged(world: World, flags = NO_FLAGS): Promise<Record<string, string>> {
  const { plan } = await stagesOf(world);
  const before = world.digest(world.reposDir);
  const clones = await plan(flags);
  expect(world.digest(world.reposDir)).toBe(before);
  return Object.fromEntries(clones.flatMap(lines));
}

function lines({ worktrees, skipped, strays }: PlannedClone): [string, string][] {
  const name = (place: string): string => place.replaceAll(".claude/worktrees/", "");
  return [
    ...worktrees.map((entry): [string, string] => [
      name(entry.worktree.place),
      [entry.class, ...new Set(entry.reasons.map(({ code }) => code).toSorted())].join(" "),
    ]),
    ...skipped.map((entry): [string, string] => [name(entry.place), `skipped ${entry.code}`]),
    ...strays.map((stray): [string, string] => [
      `registration ${"admin" in stray.registration ? stray.registration.admin.id : stray.registration.id}`,
      [stray.decision, ...new Set(stray.reasons.map(({ code }) => code).toSorted())].join(" "),
    ]),
  ];
}

const admin = (world: World, name = "a1"): string => join(world.main.clone, ".git/worktrees", name);

/** What was done to a finished worktree a1 → what is said of it. Done after the registrations were rewritten to container paths. */
const STATES: Readonly<Record<string, { says: string; state: (world: World, directory: string) => void }>> = {
  nothing: { says: "prunable", state: () => {} },
  "a FIFO as .gitignore": {
    says: "prunable",
    state: (_, directory) => execFileSync("mkfifo", [join(directory, "src/pipe")]),
  },
  "a HEAD that is gone": {
    says: "held could-not-tell",
    state: (world) => rmSync(join(admin(world), "HEAD")),
  },
  "a HEAD of no commit": {
    says: "held could-not-tell",
    state: (world) => writeFileSync(join(admin(world), "HEAD"), "nonsense\n"),
  },
  "a HEAD whose commit is missing": {
    says: "held could-not-tell",
    state: (world) => writeFileSync(join(admin(world), "HEAD"), `${"1".repeat(40)}\n`),
  },
  "a HEAD that is a blob": {
    says: "held could-not-tell",
    state: (world) =>
      writeFileSync(join(admin(world), "HEAD"), world.git(world.main.clone, "rev-parse", "HEAD:README.md")),
  },
  "an unborn branch with an index": {
    says: "held uncommitted",
    state: (world) => writeFileSync(join(admin(world), "HEAD"), "ref: refs/heads/never-born\n"),
  },
  "an index that is gone": {
    says: "held uncommitted",
    state: (world) => rmSync(join(admin(world), "index")),
  },
  "an index that is corrupt": {
    says: "held could-not-tell",
    state: (world) => writeFileSync(join(admin(world), "index"), "corrupt"),
  },
  "an index that is a FIFO": {
    says: "held could-not-tell",
    state: (world) => {
      rmSync(join(admin(world), "index"));
      execFileSync("mkfifo", [join(admin(world), "index")]);
    },
  },
  "an admin directory that is a link": {
    says: "held could-not-tell",
    state: (world) => {
      renameSync(admin(world), join(world.root, "moved"));
      symlinkSync(join(world.root, "moved"), admin(world));
    },
  },
  "a gitdir file with a line break": {
    says: "held could-not-tell",
    state: (world) => writeFileSync(join(admin(world), "gitdir"), "/x/.git\nworktree /home/me/precious\n/y/.git\n"),
  },
  "a gitdir file that is huge": {
    says: "held could-not-tell",
    state: (world) => writeFileSync(join(admin(world), "gitdir"), "/x".repeat(100_000)),
  },
  "a commondir that names another repository": {
    says: "held could-not-tell",
    state: (world) => writeFileSync(join(admin(world), "commondir"), "/elsewhere/.git\n"),
  },
  "no commondir": {
    says: "held could-not-tell",
    state: (world) => rmSync(join(admin(world), "commondir")),
  },
  "a locked file that is a directory": {
    says: "held could-not-tell",
    state: (world) => mkdirSync(join(admin(world), "locked")),
  },
  "a lock": { says: "locked locked", state: (world) => writeFileSync(join(admin(world), "locked"), "") },
  "a merge under way": {
    says: "held in-progress",
    state: (world) =>
      writeFileSync(join(admin(world), "MERGE_HEAD"), `${world.git(world.main.clone, "rev-parse", "HEAD")}`),
  },
  "a rebase under way": { says: "held in-progress", state: (world) => mkdirSync(join(admin(world), "rebase-merge")) },
  "a patch series under way": {
    says: "held in-progress",
    state: (world) => mkdirSync(join(admin(world), "rebase-apply")),
  },
  "a cherry-pick under way": {
    says: "held in-progress",
    state: (world) => writeFileSync(join(admin(world), "CHERRY_PICK_HEAD"), "x\n"),
  },
  "a revert under way": {
    says: "held in-progress",
    state: (world) => writeFileSync(join(admin(world), "REVERT_HEAD"), "x\n"),
  },
  "a sequence under way": { says: "held in-progress", state: (world) => mkdirSync(join(admin(world), "sequencer")) },
  "a bisect under way": {
    says: "held in-progress",
    state: (world) => writeFileSync(join(admin(world), "BISECT_LOG"), ""),
  },
  "a per-worktree ref that only it has": {
    says: "held unpushed",
    state: (world) => {
      const commit = world.git(world.main.clone, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "only here");
      mkdirSync(join(admin(world), "refs/worktree"), { recursive: true });
      writeFileSync(join(admin(world), "refs/worktree/mine"), commit);
    },
  },
  "a per-worktree ref that is a link": {
    says: "held could-not-tell",
    state: (world) => {
      mkdirSync(join(admin(world), "refs/worktree"), { recursive: true });
      symlinkSync(join(world.main.clone, ".git/HEAD"), join(admin(world), "refs/worktree/mine"));
    },
  },
  "an embedded repository without commits": {
    says: "held embedded-repository uncommitted",
    state: (world, directory) => world.git(world.root, "init", "-q", join(directory, "embedded")),
  },
  "an embedded repository in an ignored directory": {
    says: "held embedded-repository ignored",
    state: (world, directory) => world.git(world.root, "init", "-q", join(directory, "scratch/deep/embedded")),
  },
  "a bare repository in a regenerable directory": {
    says: "held embedded-repository",
    state: (world, directory) => {
      world.nodeModules(directory, { files: 1 });
      world.git(world.root, "init", "-q", "--bare", join(directory, "node_modules/pkg/store.git"));
    },
  },
  "a store of a submodule that is gone from the files": {
    says: "held embedded-repository",
    state: (world) => world.git(world.main.clone, "init", "-q", "--bare", join(admin(world), "modules/sub")),
  },
  "a node_modules without a marker": {
    says: "held ignored",
    state: (_, directory) => {
      mkdirSync(join(directory, "node_modules/mine"), { recursive: true });
      writeFileSync(join(directory, "node_modules/mine/results.csv"), "1\n");
    },
  },
  "a link in place of its own worktrees place": {
    says: "prunable",
    state: (world, directory) => symlinkSync(world.root, join(directory, "link-out")),
  },
  "two registrations of its place": {
    says: "held could-not-tell",
    state: (world) => cpSync(admin(world), admin(world, "a1-again"), { recursive: true }),
  },
  "a gitfile that names another registration": {
    says: "held could-not-tell",
    state: (_, directory) => {
      const gitfile = readFileSync(join(directory, ".git"), "utf8");
      writeFileSync(join(directory, ".git"), gitfile.replace(/worktrees\/a1$/m, "worktrees/other"));
    },
  },
};

test.each(Object.entries(STATES))("a worktree with %s", async (title, { says, state }) => {
  const world = await temporaryWorld();
  const directory = world.addWorktree("a1");
  world.containerise();
  state(world, directory);
  const said = await judged(world);
  // An untracked FIFO or link shows up as what it is.
  expect(said["a1"]).toBe(title.startsWith("a link in place") ? "held uncommitted" : says);
});

test("a bare that cannot be read holds everything that it would have to prove", async () => {
  const world = await temporaryWorld();
  world.addWorktree("a1");
  world.containerise();
  writeFileSync(join(world.main.bare ?? "", "refs/heads/broken"), "1".repeat(40));
  expect(await judged(world)).toEqual({ a1: "held could-not-tell" });
});

test("a replace ref, a graft or an archive fakes no reachability", async () => {
  const world = await temporaryWorld();
  const directory = world.addWorktree("a1", { push: false });
  const commit = world.commit(directory);
  const bare = world.main.bare ?? "";
  world.git(bare, "fetch", "-q", world.main.clone, `${commit}:refs/dl/archive/2026-01-01/x/a1`);
  const main = world.git(bare, "rev-parse", "main").trim();
  world.git(bare, "update-ref", `refs/replace/${main}`, commit);
  for (const git of [bare, join(world.main.clone, ".git")]) {
    mkdirSync(join(git, "info"), { recursive: true });
    writeFileSync(join(git, "info/grafts"), `${main} ${commit}\n`);
  }
  world.containerise();
  expect(await judged(world)).toEqual({ a1: "held unpushed" });
});

test("a moved worktree is not taken for forgotten, a copy of one is", async () => {
  const world = await temporaryWorld();
  const moved = world.addWorktree("a1");
  const copied = world.addWorktree("b1");
  world.containerise();
  renameSync(moved, join(world.place(), "a1-moved"));
  cpSync(copied, join(world.place(), "b1-copy"), { recursive: true });
  expect(await judged(world)).toEqual({
    "a1-moved": "held could-not-tell",
    b1: "prunable",
    "b1-copy": "forgotten",
  });
});

test("a forgotten worktree whose content is an old commit of main goes, wherever no branch has its name", async () => {
  const world = await temporaryWorld();
  const old = world.addWorktree("old", { detach: true });
  const id = world.adminDirectory(old);
  world.commit(world.main.clone, "newer.md");
  world.push(world.main.clone, "main");
  world.containerise();
  rmSync(id, { recursive: true });
  expect(await judged(world)).toEqual({ old: "forgotten" });
});

test("a forgotten worktree with an embedded repository or an ignored only copy is held", async () => {
  const world = await temporaryWorld();
  for (const name of ["a1", "b1"]) world.addWorktree(name);
  world.containerise();
  for (const name of ["a1", "b1"]) rmSync(admin(world, name), { recursive: true });
  world.git(world.root, "init", "-q", join(world.place(), "a1/scratch/tool"));
  writeFileSync(join(world.place(), "b1/.env"), "TOKEN=1\n");
  expect(await judged(world)).toEqual({ a1: "held embedded-repository ignored", b1: "held ignored" });
});

test("registrations without a directory: dropped when all is safe, kept for commits, staged content and operations", async () => {
  const world = await temporaryWorld();
  for (const name of ["safe", "staged", "merging", "stay"]) world.addWorktree(name);
  world.commit(world.addWorktree("ahead", { detach: true }));
  writeFileSync(join(world.place(), "staged/new.txt"), "only in the index\n");
  world.git(join(world.place(), "staged"), "add", "new.txt");
  world.containerise();
  writeFileSync(join(admin(world, "merging"), "MERGE_HEAD"), world.git(world.main.clone, "rev-parse", "HEAD"));
  for (const name of ["safe", "staged", "merging", "ahead"]) rmSync(join(world.place(), name), { recursive: true });
  expect(await judged(world)).toEqual({
    stay: "prunable",
    "registration safe": "drop",
    "registration staged": "keep uncommitted",
    "registration merging": "keep in-progress",
    "registration ahead": "keep unpushed",
  });
});

test("a registration whose directory only a container can see is kept", async () => {
  const world = await temporaryWorld();
  world.addWorktree("a1");
  world.containerise();
  writeFileSync(join(admin(world), "gitdir"), "/tmp-of-the-container/a1/.git\n");
  const said = await judged(world);
  expect(said["registration a1"] ?? said["a1"]).toMatch(/could-not-tell/);
});

test("a commondir file in the clone makes nothing of another repository's go", async () => {
  const world = await temporaryWorld();
  world.addWorktree("a1");
  world.containerise();
  writeFileSync(join(world.main.clone, ".git/commondir"), `${world.main.bare}\n`);
  const { plan } = await stagesOf(world);
  const [clone] = await plan();
  expect(clone?.error).toContain("commondir");
  expect(clone?.worktrees.map(({ decision }) => decision)).toEqual(["keep"]);
});

test("the flag passes what SPEC says and never a repository inside, a mount, a process or what stays inside", async () => {
  const world = await temporaryWorld();
  const outer = world.addWorktree("outer");
  world.git(world.root, "init", "-q", join(world.addWorktree("inner", { inside: outer }), "scratch/tool"));
  writeFileSync(join(world.addWorktree("edited"), "notes.md"), "an afternoon\n");
  world.containerise();
  const { plan } = await stagesOf(world);
  const [clone] = await plan(FORCE);
  const decisions = Object.fromEntries(
    (clone?.worktrees ?? []).map(({ worktree, decision }) => [worktree.place, decision]),
  );
  expect(decisions).toEqual({
    ".claude/worktrees/edited": "remove",
    ".claude/worktrees/outer": "keep",
    ".claude/worktrees/outer/.claude/worktrees/inner": "keep",
  });
});

test("an edit of the same size in the second of the checkout is seen, however late it is looked for", async () => {
  const world = await temporaryWorld({ settle: false });
  // The index, the checkout and the edit all bear one second: git's racy entries.
  while (Date.now() % 1000 > 300) await new Promise((resolve) => setTimeout(resolve, 5));
  const directory = world.addWorktree("a1", { push: false });
  const file = join(directory, "src/a.txt");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll("a", "b"));
  world.containerise();
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(await judged(world)).toEqual({ a1: "held uncommitted" });
});

test("a sparse index is not expanded: the times of the clone's objects would change", async () => {
  const world = await temporaryWorld();
  const directory = world.addWorktree("a1");
  world.git(directory, "sparse-checkout", "set", "--cone", "--sparse-index", "lib");
  world.containerise();
  const objects = join(world.main.clone, ".git/objects");
  for (const path of readdirSync(objects, { recursive: true, encoding: "utf8" })) utimesSync(join(objects, path), 1, 1);
  expect(await judged(world)).toEqual({ a1: "held could-not-tell" });
});

test("a forgotten worktree that lacks files of a safe commit, and has no other, goes", async () => {
  const world = await temporaryWorld();
  const directory = world.addWorktree("a1");
  world.containerise();
  rmSync(admin(world), { recursive: true });
  rmSync(join(directory, "src/a.txt"));
  expect(await judged(world)).toEqual({ a1: "forgotten" });
});
