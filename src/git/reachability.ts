import { splitLines, type Git } from "./run.ts";

/** Which commits a set of safe refs reaches. `missing` are not commits of this repository at all. */
export interface Reach {
  readonly reached: ReadonlySet<string>;
  readonly unreached: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
}

/** A git directory and the revision arguments that stand for its safe refs. */
export interface SafeRefs {
  readonly gitDir: string;
  readonly refs: readonly string[];
  /** Only a bare's commit-graph is believed: a clone's is written by whoever owns the clone. */
  readonly trustCommitGraph: boolean;
}

/** The safe refs of a bare: all but what dl archived there and what replaces other commits (SPEC §2, GIT-FACTS 7). */
export function safeRefsOfBare(gitDir: string): SafeRefs {
  return { gitDir, refs: ["--exclude=refs/dl/*", "--exclude=refs/replace/*", "--glob=refs/*"], trustCommitGraph: true };
}

/** The safe refs of a clone: its remote-tracking refs, and its default branch where it has one. */
export function safeRefsOfClone(gitDir: string, defaultBranch: string | null): SafeRefs {
  return {
    gitDir,
    refs: ["--glob=refs/remotes/*", ...(defaultBranch === null ? [] : [defaultBranch])],
    trustCommitGraph: false,
  };
}

/**
 * Tells which of many commits the safe refs reach, in two git processes however many they are: one that says which are commits
 * here (`rev-list` dies on the first that is not, and calls blobs and trees reachable), one that prints what is not reached.
 */
export async function askReach(git: Git, safe: SafeRefs, commits: readonly string[]): Promise<Reach> {
  if (commits.length === 0) return { reached: new Set(), unreached: new Set(), missing: new Set() };
  const here = await keepCommits(git, safe.gitDir, commits);
  const printed = here.length === 0 ? new Set<string>() : await listUnreached(git, safe, here, false);
  const present = new Set(here);
  return {
    reached: new Set(here.filter((commit) => !printed.has(commit))),
    unreached: new Set(here.filter((commit) => printed.has(commit))),
    missing: new Set(commits.filter((commit) => !present.has(commit))),
  };
}

/** Returns every commit that the tips reach and the safe refs do not, newest first, each with its parents. */
export async function listUnreachedWithParents(
  git: Git,
  safe: SafeRefs,
  tips: readonly string[],
): Promise<Map<string, readonly string[]>> {
  const lines = await listUnreached(git, safe, tips, true);
  return new Map([...lines].map((line) => [line.split(" ")[0] ?? "", line.split(" ").slice(1)]));
}

/** Returns those of the object ids that name commits of this repository. */
export async function keepCommits(git: Git, gitDir: string, commits: readonly string[]): Promise<string[]> {
  if (commits.length === 0) return [];
  const { stdout } = await git.run({
    gitDir,
    args: ["cat-file", "--batch-check=%(objectname) %(objecttype)"],
    input: commits.map((commit) => `${commit}\n`).join(""),
  });
  return splitLines(stdout).flatMap((line) => (line.endsWith(" commit") ? [line.slice(0, -" commit".length)] : []));
}

async function listUnreached(
  git: Git,
  safe: SafeRefs,
  tips: readonly string[],
  parents: boolean,
): Promise<Set<string>> {
  const { stdout } = await git.run({
    gitDir: safe.gitDir,
    args: [
      ...(safe.trustCommitGraph ? ["-c", "core.commitGraph=true"] : []),
      "rev-list",
      ...(parents ? ["--parents"] : []),
      "--stdin",
      "--not",
      ...safe.refs,
    ],
    input: tips.map((commit) => `${commit}\n`).join(""),
  });
  return new Set(splitLines(stdout));
}
