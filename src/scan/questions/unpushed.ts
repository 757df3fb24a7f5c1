import { findDefaultBranch } from "../../git/refs.ts";
import {
  askReach,
  listUnreachedWithParents,
  safeRefsOfBare,
  safeRefsOfClone,
  type Reach,
} from "../../git/reachability.ts";
import { answered, unanswered, type Answer, type UnpushedCommits } from "../../model/evidence.ts";
import type { Bare, Clone } from "../../model/clone.ts";
import type { Tools } from "../tools.ts";
import { ask, askWith } from "./ask.ts";

/** One worktree's or registration's commits: those of its HEAD and of its own per-worktree refs. */
export interface CommitsAsked {
  readonly clone: Clone;
  readonly branches: Answer<ReadonlyMap<string, string>>;
  readonly commits: Answer<readonly string[]>;
}

/**
 * Tells, for each of many, which of its commits no safe ref reaches. All worktrees of all clones of a repository are asked at once: the
 * bare first, then each clone for what the bare does not reach, then the bare again for the ancestors that only the clone named.
 */
export async function askUnpushed(
  tools: Tools,
  bare: Bare | null,
  asked: readonly CommitsAsked[],
): Promise<Answer<UnpushedCommits>[]> {
  const all = unique(asked.flatMap(({ commits }) => (commits.kind === "answered" ? commits.value : [])));
  const inBare = await ask(() => reachInBare(tools, bare, all));
  const byClone = new Map<Clone, Promise<Answer<CloneReach>>>();
  return Promise.all(
    asked.map(async ({ clone, branches, commits }) => {
      if (commits.kind === "unanswered") return commits;
      if (inBare.kind === "unanswered") return inBare;
      const beyond = commits.value.filter((commit) => !inBare.value.reached.has(commit));
      if (beyond.length === 0) return answered({ commits: [] });
      let reach = byClone.get(clone);
      if (reach === undefined) {
        const siblings = asked.filter((other) => other.clone === clone).map((other) => other.commits);
        const tips = unique(siblings.flatMap((other) => (other.kind === "answered" ? other.value : [])));
        const pending = tips.filter((commit) => !inBare.value.reached.has(commit));
        reach = askWith(branches, (tipsOfBranches) => reachInClone(tools, clone, bare, tipsOfBranches, pending));
        byClone.set(clone, reach);
      }
      const inClone = await reach;
      return inClone.kind === "unanswered" ? inClone : unpushedOf(beyond, inClone.value);
    }),
  );
}

interface CloneReach extends Reach {
  /** The graph of what neither the clone nor the bare reaches: commit → parents, newest first. */
  readonly graph: ReadonlyMap<string, readonly string[]>;
}

async function reachInBare(tools: Tools, bare: Bare | null, commits: readonly string[]): Promise<Reach> {
  if (bare === null) return { reached: new Set(), unreached: new Set(), missing: new Set(commits) };
  return askReach(tools.git, safeRefsOfBare(bare.path), commits);
}

async function reachInClone(
  tools: Tools,
  clone: Clone,
  bare: Bare | null,
  branches: ReadonlyMap<string, string>,
  commits: readonly string[],
): Promise<CloneReach> {
  const safe = safeRefsOfClone(
    clone.gitDir,
    await findDefaultBranch(tools.git, clone, branches, tools.usersDefaultBranch),
  );
  const reach = await askReach(tools.git, safe, commits);
  if (reach.unreached.size === 0) return { ...reach, graph: new Map() };
  const graph = await listUnreachedWithParents(tools.git, safe, [...reach.unreached]);
  // A clone is never fetched into, so that it may call unpushed what the bare has had for long.
  const known = await reachInBare(tools, bare, [...graph.keys()]);
  for (const commit of known.reached) graph.delete(commit);
  return { ...reach, graph };
}

function unpushedOf(tips: readonly string[], reach: CloneReach): Answer<UnpushedCommits> {
  const pending: string[] = [];
  for (const tip of tips) {
    if (reach.missing.has(tip)) return unanswered(`${tip} names no commit of the repository`);
    if (reach.graph.has(tip)) pending.push(tip);
    else if (!reach.reached.has(tip)) return unanswered(`git did not say whether a safe ref reaches ${tip}`);
  }
  const seen = new Set<string>();
  for (let commit = pending.pop(); commit !== undefined; commit = pending.pop()) {
    if (seen.has(commit)) continue;
    seen.add(commit);
    pending.push(...(reach.graph.get(commit) ?? []).filter((parent) => reach.graph.has(parent)));
  }
  return answered({ commits: [...reach.graph.keys()].filter((commit) => seen.has(commit)) });
}

function unique(commits: readonly string[]): string[] {
  return [...new Set(commits)];
}
