import { onTestFinished } from "vitest";
import type { World } from "../../fixtures/world.ts";
import { act, type ActProgress } from "../../src/act/act.ts";
import { Git } from "../../src/git/run.ts";
import { planClone, type Flags, type PlannedClone } from "../../src/plan/plan.ts";
import type { ClonePass } from "../../src/plan/pass.ts";
import { findClones } from "../../src/scan/clones.ts";
import { scanWorld, surveySurroundings } from "../../src/scan/scan.ts";
import type { Tools } from "../../src/scan/tools.ts";
import { Programs } from "../../src/system/programs.ts";
import { TemporaryDirectory } from "../../src/system/temporary.ts";
import { createTreeReader } from "../../src/system/tree-facts.ts";

export const NO_FLAGS: Flags = { force: false, discardIgnored: false };
export const FORCE: Flags = { force: true, discardIgnored: false };

/** The stages of a prune on a world, one by one, so that a test can change the world between them. */
export interface Stages {
  readonly tools: Tools;
  readonly plan: (flags?: Flags) => Promise<PlannedClone[]>;
  readonly act: (
    planned: readonly PlannedClone[],
    flags?: Flags,
    progress?: Partial<ActProgress>,
  ) => Promise<ClonePass[]>;
}

/** Opens a world for the stages; what they write outside it is taken away when the running test ends. */
export async function stagesOf(world: World, signal: AbortSignal = new AbortController().signal): Promise<Stages> {
  const programs = new Programs(world.env["PATH"], world.reposDir);
  const temporary = await TemporaryDirectory.create(world.reposDir);
  onTestFinished(() => temporary.remove());
  const git = new Git(programs);
  const trees = await createTreeReader(programs);
  const usersDefaultBranch = async () => null;
  const tools: Tools = { reposDir: world.reposDir, programs, git, trees, temporary, usersDefaultBranch, signal };
  let run = 0;
  return {
    tools,
    async plan(flags = NO_FLAGS) {
      const { clones } = await findClones(world.reposDir);
      const unseen = { onClone: () => {}, onWorktree: () => {} };
      const scanned = await scanWorld(tools, clones, await surveySurroundings(tools), unseen);
      return scanned.map((clone) => planClone(clone, flags));
    },
    act: (planned, flags = NO_FLAGS, progress = {}) =>
      act(tools, planned, flags, `run-${run++}`, {
        onWaiting: () => {},
        onRemoved: () => {},
        onDeleting: () => {},
        onProblem: () => {},
        ...progress,
      }),
  };
}
