import { basename } from "node:path";
import { hashTree } from "../../git/tree-hash.ts";
import { PrivateGitDir } from "../../git/private-git-dir.ts";
import { askReach, safeRefsOfBare, safeRefsOfClone, type SafeRefs } from "../../git/reachability.ts";
import { findDefaultBranch, readBranches, readSymbolicRef } from "../../git/refs.ts";
import { splitLines, splitNul } from "../../git/run.ts";
import { readStatus, type StatusFacts } from "../../git/working-tree.ts";
import type { Clone } from "../../model/clone.ts";
import { WORKTREES_PLACE } from "../../model/place.ts";
import type { Worktree } from "../../model/worktree.ts";
import type { Tools } from "../tools.ts";

/** How far back the history of the safe refs is searched for a commit with exactly the directory's content. */
const MAX_HISTORY = 50_000;

/** What a working tree is compared with. */
export interface Baseline {
  /** At the commit, with the index, that the comparison is with. */
  readonly gitDir: PrivateGitDir;
  /** The comparison, where it was made already on the way here: all files of a directory that git forgot are read for one. */
  readonly status: StatusFacts | null;
}

/**
 * Makes the private git directory in which a directory that git forgot is judged: nothing but its content is left to tell what it is, so it is
 * compared with the commit, of those that a safe ref reaches, that comes nearest to it. The branches that go by its name and the default branch
 * are tried first; unless one is just it, an exact commit is searched for by the id that git would give the directory's tree. Nothing is written
 * to the clone.
 * Throws when the repository has no safe commit at all.
 */
export async function makeForgottenGitDir(
  tools: Tools,
  clone: Clone,
  worktree: Worktree,
  branches: ReadonlyMap<string, string>,
): Promise<Baseline> {
  const defaultBranch = await findDefaultBranch(tools.git, clone, branches, tools.usersDefaultBranch);
  const stores = [
    ...(clone.bare === null ? [] : [safeRefsOfBare(clone.bare.path)]),
    safeRefsOfClone(clone.gitDir, defaultBranch),
  ];
  const sha256 = [...branches.values()].some((commit) => commit.length === 64);
  const objects = stores.map((store) => `${store.gitDir}/objects`);
  let best: (Baseline & { readonly differences: number }) | null = null;
  for (const commit of await namedCandidates(tools, clone, worktree, branches, defaultBranch, stores)) {
    const gitDir = await checkedOut(tools, worktree, commit, objects);
    const status = await readStatus(tools.git, gitDir, worktree.directory);
    const differences = status.changed.length + status.untracked.length;
    if (differences === 0) {
      best?.gitDir.remove();
      return { gitDir, status };
    }
    if (best === null || differences < best.differences) {
      best?.gitDir.remove();
      best = { gitDir, status, differences };
    } else gitDir.remove();
  }
  const exact = await findExactCommit(tools, worktree, stores, objects, sha256);
  if (exact !== null) {
    best?.gitDir.remove();
    return { gitDir: await checkedOut(tools, worktree, exact, objects), status: null };
  }
  if (best === null) throw new Error("no commit that a safe ref reaches could be compared with it");
  return best;
}

async function findExactCommit(
  tools: Tools,
  worktree: Worktree,
  stores: readonly SafeRefs[],
  objects: readonly string[],
  sha256: boolean,
): Promise<string | null> {
  const empty = await PrivateGitDir.create(tools.temporary, { commit: null, objects, indexOf: null, sha256 });
  try {
    const { stdout } = await tools.git.run({
      gitDir: empty.path,
      workTree: worktree.directory,
      args: ["ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"],
    });
    const paths = splitNul(stdout).filter(
      (path) => path !== "" && !path.endsWith("/") && !path.startsWith(`${WORKTREES_PLACE}/`),
    );
    const tree = await hashTree(worktree.directory, paths, sha256 ? "sha256" : "sha1");
    for (const store of stores) {
      const commit = await findCommitOfTree(tools, store, tree);
      if (commit !== null) return commit;
    }
    return null;
  } finally {
    empty.remove();
  }
}

async function findCommitOfTree(tools: Tools, store: SafeRefs, tree: string): Promise<string | null> {
  const { stdout } = await tools.git.run({
    gitDir: store.gitDir,
    args: ["rev-list", "--no-commit-header", "--format=%T %H", `--max-count=${MAX_HISTORY}`, ...store.refs],
  });
  const at = `\n${stdout.toString("latin1")}`.indexOf(`\n${tree} `);
  return at < 0 ? null : (splitLines(stdout.subarray(at))[0]?.slice(tree.length + 1) ?? null);
}

async function namedCandidates(
  tools: Tools,
  clone: Clone,
  worktree: Worktree,
  branches: ReadonlyMap<string, string>,
  defaultBranch: string | null,
  stores: readonly SafeRefs[],
): Promise<string[]> {
  const name = basename(worktree.place);
  const inBare = clone.bare === null ? new Map<string, string>() : await readBranches(tools.git, clone.bare.path);
  const baresHead = clone.bare === null ? null : await readSymbolicRef(tools.git, clone.bare.path, "HEAD");
  const refs = [
    `refs/heads/${name}`,
    `refs/heads/worktree-${name}`,
    `refs/heads/${worktree.gitfileId}`,
    defaultBranch ?? "",
    baresHead ?? "",
  ];
  const commits = [
    ...new Set(refs.flatMap((ref) => [inBare.get(ref), branches.get(ref)]).filter((commit) => commit !== undefined)),
  ];
  const safe = new Set<string>();
  for (const store of stores)
    for (const commit of (await askReach(tools.git, store, commits)).reached) safe.add(commit);
  return commits.filter((commit) => safe.has(commit));
}

async function checkedOut(
  tools: Tools,
  worktree: Worktree,
  commit: string,
  objects: readonly string[],
): Promise<PrivateGitDir> {
  const gitDir = await PrivateGitDir.create(tools.temporary, {
    commit,
    objects,
    indexOf: null,
    sha256: commit.length === 64,
  });
  await tools.git.run({ gitDir: gitDir.path, workTree: worktree.directory, args: ["read-tree", commit] });
  return gitDir;
}
