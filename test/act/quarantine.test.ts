import { spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import { Quarantine, recover } from "../../src/act/quarantine.ts";
import { recoverAll } from "../../src/act/recover.ts";
import type { Clone } from "../../src/model/clone.ts";
import { findClones } from "../../src/scan/clones.ts";
import { stagesOf, type Stages } from "../helpers/stages.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

const PLACE = ".claude/worktrees/a1";

interface Scene {
  readonly world: World;
  readonly stages: Stages;
  readonly clone: Clone;
  readonly directory: string;
  readonly admin: string;
  readonly open: () => Promise<Quarantine>;
  readonly identity: { readonly device: number; readonly inode: number };
}

async function scene(): Promise<Scene> {
  const world = await temporaryWorld();
  const directory = world.addWorktree("a1");
  writeFileSync(join(directory, "notes.md"), "an afternoon\n");
  world.containerise();
  const stages = await stagesOf(world);
  const [clone] = (await findClones(world.reposDir)).clones;
  if (clone === undefined) throw new Error("the world has no clone");
  const { dev, ino } = lstatSync(directory);
  return {
    world,
    stages,
    clone,
    directory,
    admin: join(clone.gitDir, "worktrees/a1"),
    open: () => Quarantine.open(clone.repositoryDir, "run", stages.tools.programs, stages.tools.signal),
    identity: { device: dev, inode: ino },
  };
}

const both = (world: World, { directory, admin }: Scene): string =>
  `${world.digest(directory)}\n${world.digest(admin)}`;
const left = ({ clone }: Scene): string[] => {
  const root = join(clone.repositoryDir, ".dl-quarantine");
  return existsSync(root) ? readdirSync(root) : [];
};

test("what an interrupted run had moved and not verified goes back, every byte of it and its registration", async () => {
  const set = await scene();
  const before = both(set.world, set);
  const quarantine = await set.open();
  await quarantine.take(set.clone, PLACE, set.identity, ["a1"]);
  expect(existsSync(set.directory) || existsSync(set.admin)).toBe(false);
  await quarantine.close();
  const said: string[] = [];
  expect(await recoverAll(set.stages.tools, [set.clone.repositoryDir], (text) => said.push(text))).toBe(true);
  expect(both(set.world, set)).toBe(before);
  expect(said).toEqual([`an earlier run was interrupted: ${set.directory} was moved back to its place`]);
  expect(left(set)).toEqual([]);
});

test("what an interrupted run had verified is deleted by the next one", async () => {
  const set = await scene();
  const quarantine = await set.open();
  await quarantine.markVerified(await quarantine.take(set.clone, PLACE, set.identity, ["a1"]));
  await quarantine.close();
  expect(await recoverAll(set.stages.tools, [set.clone.repositoryDir], () => {})).toBe(true);
  expect(existsSync(set.directory) || existsSync(set.admin)).toBe(false);
  expect(left(set)).toEqual([]);
});

test("what one run finishes is left alone by another until it is done", async () => {
  const set = await scene();
  const quarantine = await set.open();
  await quarantine.markVerified(await quarantine.take(set.clone, PLACE, set.identity, ["a1"]));
  await quarantine.close();
  const { programs } = set.stages.tools;
  const first = await recover(set.clone.repositoryDir, programs);
  expect(first.toDelete.map(({ entries }) => entries.length)).toEqual([1]);
  expect((await recover(set.clone.repositoryDir, programs)).toDelete).toEqual([]);
  await first.toDelete[0]?.done();
  expect((await recover(set.clone.repositoryDir, programs)).toDelete).toHaveLength(1);
});

test("what a live run holds is left to it", async () => {
  const set = await scene();
  const quarantine = await set.open();
  onTestFinished(() => quarantine.close());
  const taken = await quarantine.take(set.clone, PLACE, set.identity, ["a1"]);
  expect(await recover(set.clone.repositoryDir, set.stages.tools.programs)).toEqual({
    putBack: [],
    toDelete: [],
    errors: [],
  });
  expect(readFileSync(join(taken.tree, "notes.md"), "utf8")).toBe("an afternoon\n");
});

test("only the directory had moved when it was killed: it goes back to its registration", async () => {
  const set = await scene();
  const before = both(set.world, set);
  const quarantine = await set.open();
  await quarantine.take(set.clone, PLACE, set.identity, []);
  await quarantine.close();
  await recoverAll(set.stages.tools, [set.clone.repositoryDir], () => {});
  expect(both(set.world, set)).toBe(before);
});

test("nothing had moved yet when it was killed: nothing is left and nothing is said", async () => {
  const set = await scene();
  const before = both(set.world, set);
  const entry = join(set.clone.repositoryDir, ".dl-quarantine/run/0.moving");
  mkdirSync(join(entry, "admin"), { recursive: true });
  const said: string[] = [];
  expect(await recoverAll(set.stages.tools, [set.clone.repositoryDir], (text) => said.push(text))).toBe(true);
  expect(said).toEqual([]);
  expect(both(set.world, set)).toBe(before);
  expect(left(set)).toEqual([]);
});

test("a place that was taken meanwhile is not written over: the bytes stay where they are, and it is said where", async () => {
  const set = await scene();
  const quarantine = await set.open();
  const taken = await quarantine.take(set.clone, PLACE, set.identity, ["a1"]);
  await quarantine.close();
  mkdirSync(set.directory);
  const said: string[] = [];
  expect(await recoverAll(set.stages.tools, [set.clone.repositoryDir], (text) => said.push(text))).toBe(false);
  expect(said.join("\n")).toContain(taken.entry);
  expect(readFileSync(join(taken.tree, "notes.md"), "utf8")).toBe("an afternoon\n");
  rmSync(set.directory, { recursive: true });
  expect(await recoverAll(set.stages.tools, [set.clone.repositoryDir], () => {})).toBe(true);
  expect(readFileSync(join(set.directory, "notes.md"), "utf8")).toBe("an afternoon\n");
});

test("a step that fails puts back what the steps before it moved", async () => {
  const set = await scene();
  const before = both(set.world, set);
  const quarantine = await set.open();
  onTestFinished(() => quarantine.close());
  await expect(quarantine.take(set.clone, PLACE, set.identity, ["a1", "missing"])).rejects.toThrow("missing");
  expect(both(set.world, set)).toBe(before);
});

test("a directory that is not the one that was checked goes back at once", async () => {
  const set = await scene();
  const quarantine = await set.open();
  onTestFinished(() => quarantine.close());
  const before = both(set.world, set);
  await expect(quarantine.take(set.clone, PLACE, { ...set.identity, inode: 1 }, ["a1"])).rejects.toThrow(
    "not the directory that was checked",
  );
  expect(both(set.world, set)).toBe(before);
});

test("something in the quarantine that dl did not make is named and left alone", async () => {
  const set = await scene();
  const strange = join(set.clone.repositoryDir, ".dl-quarantine/run/mine");
  mkdirSync(strange, { recursive: true });
  writeFileSync(join(strange, "keep.txt"), "keep\n");
  const said: string[] = [];
  expect(await recoverAll(set.stages.tools, [set.clone.repositoryDir], (text) => said.push(text))).toBe(false);
  expect(said.join("\n")).toContain(strange);
  expect(readFileSync(join(strange, "keep.txt"), "utf8")).toBe("keep\n");
});

test("a process that writes into the quarantine after the move is noticed, and the worktree goes back with what it wrote", async () => {
  const world = await temporaryWorld();
  const directory = world.addWorktree("a1");
  world.containerise();
  const stages = await stagesOf(world);
  const planned = await stages.plan();
  const root = join(world.main.directory, ".dl-quarantine");
  const script = `
    const fs = require("node:fs");
    fs.writeSync(1, "ready");
    for (;;) try {
      const run = fs.readdirSync(${JSON.stringify(root)})[0];
      fs.writeFileSync(${JSON.stringify(root)} + "/" + run + "/0.moving/tree/late.md", "late\\n");
      break;
    } catch {}`;
  const writer = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void writer.kill());
  await new Promise((resolve) => writer.stdout.once("data", resolve));
  const ended = new Promise((resolve) => writer.once("close", resolve));
  const [pass] = await stages.act(planned);
  await ended;
  expect(pass?.removals.get(PLACE)).toMatchObject({ kind: "withheld" });
  expect(readFileSync(join(directory, "late.md"), "utf8")).toBe("late\n");
  expect(world.git(world.main.clone, "worktree", "list", "--porcelain")).toContain("worktrees/a1");
});

test("a clone that was moved away meanwhile keeps its bytes in quarantine, and they are said to be there", async () => {
  const set = await scene();
  const quarantine = await set.open();
  const taken = await quarantine.take(set.clone, PLACE, set.identity, ["a1"]);
  await quarantine.close();
  renameSync(set.clone.path, `${set.clone.path}.moved`);
  const said: string[] = [];
  expect(await recoverAll(set.stages.tools, [set.clone.repositoryDir], (text) => said.push(text))).toBe(false);
  expect(said.join("\n")).toContain(taken.entry);
  expect(readFileSync(join(taken.tree, "notes.md"), "utf8")).toBe("an afternoon\n");
});
