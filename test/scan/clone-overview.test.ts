import { execFileSync } from "node:child_process";
import { linkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { weighClone, type Weighed } from "../../src/scan/clone-overview.ts";
import { findClones } from "../../src/scan/clones.ts";
import { scanWorld, surveySurroundings } from "../../src/scan/scan.ts";
import type { Tools } from "../../src/scan/tools.ts";
import type { Weight } from "../../src/system/tree-facts.ts";
import { stagesOf } from "../helpers/stages.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

const FILE = "x".repeat(50_000);

/** Two worktrees, one with a third nested in it, and an entry that is none; some of their files have names in several of them. */
async function linkedWorld() {
  const world = await temporaryWorld();
  const outer = world.addWorktree("outer");
  const inner = world.addWorktree("inner", { inside: outer });
  const other = world.addWorktree("other");
  const loose = join(dirname(outer), "no-worktree");
  for (const directory of [outer, inner, other, loose]) world.write(directory, "own", FILE);
  for (const directory of [inner, other]) linkSync(join(outer, "own"), join(directory, "shared"));
  linkSync(join(other, "own"), join(world.root, "outside"));
  const { tools } = await stagesOf(world);
  const [clone] = (await findClones(world.reposDir)).clones;
  if (clone === undefined) throw new Error("the world has no clone");
  return { world, tools, clone, outer, inner, other, loose };
}

async function weighedByScan(tools: Tools): Promise<Weighed> {
  const weighed = new Map<string, Weight | null>();
  const onWorktree = (directory: string, weight: Weight | null): void => void weighed.set(directory, weight);
  const { clones } = await findClones(tools.reposDir);
  await scanWorld(tools, clones, await surveySurroundings(tools), { onClone: () => {}, onWorktree });
  return weighed;
}

/** What du finds, which counts a file once and does not ask for its names elsewhere. */
function duBytes(path: string): number {
  return Number.parseInt(execFileSync("du", ["-s", "--block-size=1", path], { encoding: "utf8" }), 10);
}

test("a clone is weighed in two parts that hold everything but what has a name outside", async () => {
  const { world, tools, clone, outer } = await linkedWorld();
  const { own, worktrees } = await weighClone(tools, clone, new Map(), () => {});
  const outside = duBytes(join(world.root, "outside"));
  expect(worktrees?.bytes).toBe(duBytes(dirname(outer)) - outside);
  if (worktrees !== null) own.add(worktrees);
  expect(own.bytes).toBe((await tools.trees.weigh(clone.path)).bytes);
});

test("what a scan has weighed is not walked again, and the figures are the same", async () => {
  const { tools, clone, loose } = await linkedWorld();
  const weighed = await weighedByScan(tools);
  const walked: string[] = [];
  const watched: Tools = {
    ...tools,
    trees: { ...tools.trees, weigh: (tree, options) => (walked.push(tree), tools.trees.weigh(tree, options)) },
  };
  const again = await weighClone(watched, clone, weighed, () => {});
  expect(walked.toSorted()).toEqual([clone.path, dirname(loose), loose].toSorted());
  const afresh = await weighClone(tools, clone, new Map(), () => {});
  expect(again.own.bytes).toBe(afresh.own.bytes);
  expect(again.worktrees?.bytes).toBe(afresh.worktrees?.bytes);
});

test("a worktree with a part that a scan could not walk is walked", async () => {
  const { tools, clone, inner } = await linkedWorld();
  const weighed = new Map(await weighedByScan(tools)).set(inner, null);
  const again = await weighClone(tools, clone, weighed, () => {});
  const afresh = await weighClone(tools, clone, new Map(), () => {});
  expect(again.worktrees?.bytes).toBe(afresh.worktrees?.bytes);
});
