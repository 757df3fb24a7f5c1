import { lstatOrNull } from "../../system/small-file.ts";
import type { Answer } from "../../model/evidence.ts";
import type { Tools } from "../tools.ts";

/** What is known of the repositories inside a worktree. */
export interface Inside {
  /** null for a registration without a directory. */
  readonly directory: string | null;
  /** null for a directory that git forgot. */
  readonly adminDirectory: string | null;
  /** Paths of entries called `.git` below it, its own and those of nested worktrees left out. */
  readonly gitEntries: readonly string[];
  readonly bareRepositories: readonly string[];
  /** Paths of submodules in its index. */
  readonly gitlinks: Answer<readonly string[]>;
}

/**
 * Returns the paths of the repositories inside a worktree that hold, or may hold, what exists nowhere else: every one that is no worktree of
 * this clone, at any depth, ignored or not; and the stores of its submodules, which die with its admin directory (GIT-FACTS fact 8).
 */
export async function findEmbedded(_tools: Tools, inside: Inside): Promise<string[]> {
  const repositories = [...inside.gitEntries.map((path) => path.replace(/\/?\.git$/, "")), ...inside.bareRepositories];
  if (inside.adminDirectory !== null && (await lstatOrNull(`${inside.adminDirectory}/modules`)) !== null) {
    throw new Error("its admin directory holds stores of submodules, which could not be proved to exist elsewhere");
  }
  return repositories;
}
