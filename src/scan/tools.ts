import type { Git } from "../git/run.ts";
import type { Programs } from "../system/programs.ts";
import type { TemporaryDirectory } from "../system/temporary.ts";
import type { TreeReader } from "../system/tree-facts.ts";

/** What every stage that reads works with: one set a run. */
export interface Tools {
  readonly reposDir: string;
  readonly programs: Programs;
  readonly git: Git;
  readonly trees: TreeReader;
  readonly temporary: TemporaryDirectory;
  /** `init.defaultBranch` of the person who runs dl, asked once and only when a clone does not say. */
  readonly usersDefaultBranch: () => Promise<string | null>;
  readonly signal: AbortSignal;
}
