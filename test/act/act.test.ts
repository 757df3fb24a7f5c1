import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import { recoverAll } from "../../src/act/recover.ts";
import { removalsOf } from "../../src/plan/plan.ts";
import { FORCE, stagesOf } from "../helpers/stages.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

const place = (name: string): string => `.claude/worktrees/${name}`;
const registrations = (world: World): string => world.git(world.main.clone, "worktree", "list", "--porcelain");
const quarantine = (world: World): string => join(world.main.directory, ".dl-quarantine");

test("removes what was approved, directory and registration, and leaves no quarantine", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a1");
  world.addWorktree("b1");
  world.containerise();
  const stages = await stagesOf(world);
  const [pass] = await stages.act(await stages.plan());
  expect([...(pass?.removals ?? [])].map(([key, { kind }]) => [key, kind])).toEqual([
    [place("a1"), "removed"],
    [place("b1"), "removed"],
  ]);
  expect(pass?.metadata).toMatchObject({ action: "pruned", heldBackBy: [], dropped: ["a1", "b1"], error: null });
  expect(existsSync(a)).toBe(false);
  expect(registrations(world)).not.toContain(".claude/worktrees");
  expect(existsSync(quarantine(world))).toBe(false);
});

const LATE_CHANGES: Readonly<Record<string, { code: string; change: (world: World, directory: string) => void }>> = {
  "an edit": { code: "uncommitted", change: (_, directory) => writeFileSync(join(directory, "README.md"), "late\n") },
  "a new file": { code: "uncommitted", change: (_, directory) => writeFileSync(join(directory, "late.md"), "late\n") },
  "an ignored only copy": {
    code: "ignored",
    change: (_, directory) => writeFileSync(join(directory, ".env"), "TOKEN=late\n"),
  },
  "a lock": {
    code: "locked",
    change: (world) => writeFileSync(join(world.main.clone, ".git/worktrees/a1/locked"), "late\n"),
  },
  "a commit": {
    code: "unpushed",
    change: (world, directory) => {
      writeFileSync(join(directory, "late.md"), "late\n");
      const git = (...args: string[]) =>
        world.git(directory, `--git-dir=${world.main.clone}/.git/worktrees/a1`, `--work-tree=${directory}`, ...args);
      git("add", "-A");
      git("commit", "-q", "-m", "late");
    },
  },
  "an embedded repository": {
    code: "embedded-repository",
    change: (world, directory) => {
      mkdirSync(join(directory, "scratch/tool"), { recursive: true });
      world.git(join(directory, "scratch/tool"), "init", "-q");
    },
  },
  "a skipped entry inside": {
    code: "nested",
    change: (_, directory) => mkdirSync(join(directory, ".claude/worktrees/plain"), { recursive: true }),
  },
};

test.each(Object.entries(LATE_CHANGES))(
  "withholds a worktree that got %s after the plan, bytes and registration",
  async (_, { code, change }) => {
    const world = await temporaryWorld();
    const a = world.addWorktree("a1");
    const b = world.addWorktree("b1");
    world.containerise();
    const stages = await stagesOf(world);
    const planned = await stages.plan();
    change(world, a);
    const before = world.digest(a);
    const [pass] = await stages.act(planned);
    const outcome = pass?.removals.get(place("a1"));
    expect(outcome).toMatchObject({ kind: "withheld" });
    expect(outcome?.kind === "withheld" && outcome.worktrees[0]?.reasons.map((reason) => reason.code)).toContain(code);
    expect(world.digest(a)).toBe(before);
    expect(registrations(world)).toContain("worktrees/a1");
    expect(existsSync(b)).toBe(false);
    expect(pass?.metadata.dropped).toEqual(["b1"]);
  },
);

test("withholds a clean worktree that was nested after the plan, and what it is nested in", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a1");
  world.containerise();
  const stages = await stagesOf(world);
  const planned = await stages.plan();
  const nested = world.addWorktree("late", { inside: a });
  world.containerise();
  const [pass] = await stages.act(planned);
  expect(pass?.removals.get(place("a1"))).toMatchObject({ kind: "withheld" });
  expect(existsSync(join(nested, "README.md"))).toBe(true);
});

test("withholds another directory that took the place of the approved one", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a1");
  world.containerise();
  const stages = await stagesOf(world);
  const planned = await stages.plan();
  const parked = join(world.root, "parked");
  renameSync(a, parked);
  world.git(world.root, "clone", "-q", world.main.forge, a);
  rmSync(join(a, ".git"), { recursive: true });
  writeFileSync(join(a, ".git"), readFileSync(join(parked, ".git")));
  const [pass] = await stages.act(planned);
  expect(pass?.removals.get(place("a1"))?.kind).not.toBe("removed");
  expect(existsSync(join(a, "README.md"))).toBe(true);
});

test("a worktrees place swapped for a link after the plan leads nothing out of the clone", async () => {
  const world = await temporaryWorld();
  world.addWorktree("a1");
  world.containerise();
  const stages = await stagesOf(world);
  const planned = await stages.plan();
  const real = join(world.main.clone, ".claude/worktrees");
  const outside = join(world.root, "outside");
  renameSync(real, outside);
  symlinkSync(outside, real);
  const before = world.digest(outside);
  const [pass] = await stages.act(planned);
  expect(pass?.removals.get(place("a1"))?.kind).not.toBe("removed");
  expect(world.digest(outside)).toBe(before);
});

test("an admin directory swapped for a link after the plan is neither followed nor emptied", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a1");
  world.containerise();
  const stages = await stagesOf(world);
  const planned = await stages.plan();
  const admin = join(world.main.clone, ".git/worktrees/a1");
  const outside = join(world.root, "outside");
  renameSync(admin, outside);
  symlinkSync(outside, admin);
  const before = world.digest(outside);
  const [pass] = await stages.act(planned);
  expect(pass?.removals.get(place("a1"))?.kind).not.toBe("removed");
  expect(world.digest(outside)).toBe(before);
  expect(existsSync(join(a, "README.md"))).toBe(true);
});

test("a registration that appeared after the plan is never dropped, directory or not", async () => {
  const world = await temporaryWorld();
  world.addWorktree("a1");
  world.containerise();
  const stages = await stagesOf(world);
  const planned = await stages.plan();
  const fresh = world.addWorktree("fresh");
  world.containerise();
  rmSync(fresh, { recursive: true });
  const [pass] = await stages.act(planned);
  expect(pass?.metadata).toMatchObject({ action: "held-back", heldBackBy: [place("fresh")], dropped: ["a1"] });
  expect(registrations(world)).toContain("worktrees/fresh");
});

test("an approved registration without a directory is kept when its directory came back", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a1");
  world.containerise();
  const parked = join(world.root, "parked");
  renameSync(a, parked);
  const stages = await stagesOf(world);
  const planned = await stages.plan();
  expect(planned[0]?.strays[0]?.decision).toBe("drop");
  renameSync(parked, a);
  const [pass] = await stages.act(planned);
  expect(pass?.metadata).toMatchObject({ action: "none", dropped: [] });
  expect(registrations(world)).toContain("worktrees/a1");
});

test("a quarantine that is a link is refused, and nothing goes", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a1");
  world.containerise();
  const stages = await stagesOf(world);
  const planned = await stages.plan();
  mkdirSync(join(world.root, "outside"));
  symlinkSync(join(world.root, "outside"), quarantine(world));
  const [pass] = await stages.act(planned);
  expect(pass?.removals.get(place("a1"))).toMatchObject({ kind: "failed" });
  expect(existsSync(join(a, "README.md"))).toBe(true);
  expect(registrations(world)).toContain("worktrees/a1");
  expect(readdirSync(join(world.root, "outside"))).toEqual([]);
});

test("a lock that is a link is refused, and nothing goes", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a1");
  world.containerise();
  const stages = await stagesOf(world);
  const planned = await stages.plan();
  writeFileSync(join(world.root, "outside"), "");
  symlinkSync(join(world.root, "outside"), join(world.main.directory, ".lock"));
  const [pass] = await stages.act(planned);
  expect(pass?.removals.get(place("a1"))).toMatchObject({ kind: "failed" });
  expect(existsSync(join(a, "README.md"))).toBe(true);
});

test("an interruption before the first step leaves everything planned and in place", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a1");
  world.containerise();
  const controller = new AbortController();
  const stages = await stagesOf(world, controller.signal);
  const planned = await stages.plan();
  controller.abort();
  const [pass] = await stages.act(planned);
  expect(pass?.removals.get(place("a1"))).toEqual({ kind: "planned" });
  expect(existsSync(join(a, "README.md"))).toBe(true);
  expect(registrations(world)).toContain("worktrees/a1");
});

test("a forced removal saves what is there when it goes, not what the plan saw", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a1");
  writeFileSync(join(a, "notes.md"), "an afternoon\n");
  world.containerise();
  const stages = await stagesOf(world);
  const planned = await stages.plan(FORCE);
  expect(planned.flatMap((clone) => removalsOf(clone)).map(({ root }) => root.forced)).toEqual([true]);
  writeFileSync(join(a, "notes.md"), "an evening\n");
  const [pass] = await stages.act(planned, FORCE);
  const outcome = pass?.removals.get(place("a1"));
  expect(outcome?.kind).toBe("removed");
  const name = outcome?.kind === "removed" ? outcome.archives.get(place("a1")) : undefined;
  expect(world.git(world.main.bare ?? "", "show", `refs/dl/archive/${name}:notes.md`)).toBe("an evening\n");
});

test.each(["blob", "tag"])(
  "a forced removal does not go past a ref of its own that names a %s: it could not be saved",
  async (type) => {
    const world = await temporaryWorld();
    const a = world.addWorktree("a1");
    world.git(a, "tag", "-a", "-m", "only here", "mine");
    const object = type === "tag" ? "mine" : "HEAD:README.md";
    world.git(a, "update-ref", "refs/worktree/mine", world.git(a, "rev-parse", object).trim());
    world.git(a, "tag", "-d", "mine");
    world.containerise();
    const stages = await stagesOf(world);
    const [pass] = await stages.act(await stages.plan(FORCE), FORCE);
    expect(pass?.removals.get(place("a1"))).toMatchObject({ kind: "failed" });
    expect(existsSync(join(a, "README.md"))).toBe(true);
    expect(existsSync(join(world.main.clone, ".git/worktrees/a1/refs/worktree/mine"))).toBe(true);
  },
);

test("clones of one repository that come before and after another's share its quarantine", async () => {
  const world = await temporaryWorld({ owner: "o", repo: "r", workspace: "a" });
  const inner = world.addRepository({ owner: "o/r", repo: "m", workspace: "x" });
  const last = world.addClone("z", world.main);
  const directories = [
    world.addWorktree("a1"),
    world.addWorktree("m1", { inside: inner.clone }),
    world.addWorktree("z1", { inside: last.clone }),
  ];
  world.containerise();
  const stages = await stagesOf(world);
  const planned = (await stages.plan()).toSorted((x, y) => (x.clone.path < y.clone.path ? -1 : 1));
  expect(planned.map(({ clone }) => clone.workspace)).toEqual(["a", "x", "z"]);
  await stages.act(planned);
  expect(directories.filter((directory) => existsSync(directory))).toEqual([]);
  expect(existsSync(quarantine(world))).toBe(false);
});

test("a repository's directory swapped for a link after the plan leads nothing out of repos_dir", async () => {
  const world = await temporaryWorld();
  world.addWorktree("a1");
  world.containerise();
  const stages = await stagesOf(world);
  const planned = await stages.plan();
  const outside = join(world.root, "outside");
  renameSync(world.main.directory, outside);
  symlinkSync(outside, world.main.directory);
  const before = world.digest(outside);
  const [pass] = await stages.act(planned);
  expect(pass?.removals.get(place("a1"))).toMatchObject({ kind: "failed" });
  expect(world.digest(outside)).toBe(before);
});

test("a clone whose admin area is a link loses nothing to the flag: what hangs on its registrations cannot be seen", async () => {
  const world = await temporaryWorld();
  const a = world.addWorktree("a1");
  writeFileSync(join(a, "staged.txt"), "only in the index\n");
  world.git(a, "add", "staged.txt");
  rmSync(join(a, "staged.txt"));
  world.containerise();
  const admins = join(world.main.clone, ".git/worktrees");
  const moved = join(world.main.clone, ".git/moved");
  renameSync(admins, moved);
  symlinkSync(moved, admins);
  const before = world.digest(world.main.clone);
  const stages = await stagesOf(world);
  const planned = await stages.plan(FORCE);
  expect(planned.flatMap(({ worktrees }) => worktrees.map(({ decision }) => decision))).toEqual(["keep"]);
  await stages.act(planned, FORCE);
  expect(world.digest(world.main.clone)).toBe(before);
});

test("what an interruption left undeleted is not told as removed, and the next run finishes it", async () => {
  const world = await temporaryWorld();
  const names = ["a1", "b1"];
  for (const name of names) world.addWorktree(name);
  world.containerise();
  const controller = new AbortController();
  const stages = await stagesOf(world, controller.signal);
  const [pass] = await stages.act(await stages.plan(), undefined, { onDeleting: () => controller.abort() });
  expect(names.map((name) => pass?.removals.get(place(name))?.kind)).toEqual(["removed", "failed"]);
  expect(existsSync(quarantine(world))).toBe(true);
  const next = await stagesOf(world);
  expect(await recoverAll(next.tools, [world.main.directory], () => {})).toBe(true);
  expect(existsSync(quarantine(world))).toBe(false);
});
