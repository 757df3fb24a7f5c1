import { findSmudgedLfsFiles } from "../../git/lfs.ts";
import type { PrivateGitDir } from "../../git/private-git-dir.ts";
import { readIndex, readStatus, type IndexFacts, type StatusFacts } from "../../git/working-tree.ts";
import type { Answer, OnlyCopies } from "../../model/evidence.ts";
import { WORKTREES_PLACE } from "../../model/place.ts";
import { findOnlyCopies, isIdenticalInClone, type CopyContext } from "../only-copies.ts";
import { MANIFESTS, RegenerableJudge } from "../regenerable.ts";
import { TIME_LIMIT_MS } from "../../system/time-limit.ts";
import type { Tools } from "../tools.ts";
import { askWith } from "./ask.ts";
import type { Baseline } from "./forgotten.ts";

/** Where a working tree lies, and what stands in its own worktrees place: that is judged elsewhere. */
export interface WorkingTree {
  readonly directory: string;
  readonly clonePath: string;
  /** Names of the entries of its worktrees place, worktrees and skipped ones. */
  readonly nestedNames: ReadonlySet<string>;
  /** It is compared with a commit that it was never known to be of: what it lacks of that commit is no work of its own. */
  readonly isForgotten: boolean;
}

/** What git says of a working tree against a commit. */
export interface WorkingTreeAnswers {
  readonly uncommitted: Answer<readonly string[]>;
  readonly ignored: Answer<OnlyCopies>;
}

/** Asks, in a private git directory, what in a working tree is in no commit: edits, untracked files, ignored only copies. */
export async function askWorkingTree(
  tools: Tools,
  tree: WorkingTree,
  baseline: Answer<Baseline>,
): Promise<WorkingTreeAnswers> {
  const facts = await askWith(baseline, async ({ gitDir: dir, status }) => {
    const index = await readIndex(tools.git, dir, tree.directory, MANIFESTS);
    return {
      dir,
      status: status ?? (await readStatus(tools.git, dir, tree.directory)),
      context: copyContext(tools, tree, index),
    };
  });
  return {
    uncommitted: await askWith(facts, ({ dir, status, context }) => findUncommitted(tools, tree, dir, status, context)),
    ignored: await askWith(facts, ({ status, context }) => findOnlyCopies(context, status.ignored)),
  };
}

function copyContext(tools: Tools, tree: WorkingTree, index: IndexFacts): CopyContext {
  return {
    worktree: tree.directory,
    clone: tree.clonePath,
    judge: new RegenerableJudge({
      directory: tree.directory,
      trackedDirectories: index.trackedDirectories,
      trackedManifests: index.remembered,
    }),
    isNestedPlace: (path) =>
      path.startsWith(`${WORKTREES_PLACE}/`) && tree.nestedNames.has(path.slice(WORKTREES_PLACE.length + 1)),
    signal: AbortSignal.any([tools.signal, AbortSignal.timeout(TIME_LIMIT_MS)]),
  };
}

async function findUncommitted(
  tools: Tools,
  tree: WorkingTree,
  dir: PrivateGitDir,
  status: StatusFacts,
  context: CopyContext,
): Promise<string[]> {
  const smudged = await findSmudgedLfsFiles(tools.git, dir, tree.directory, status.modified);
  const lacking = new Set(tree.isForgotten ? status.deleted : []);
  const paths = status.changed.filter((path) => !smudged.has(path) && !lacking.has(path));
  for (const path of status.untracked) {
    // The files of a nested worktree show up as plain untracked ones: its gitfile does not resolve on the host (GIT-FACTS 5.1).
    if (isInNested(tree, path)) continue;
    if (await context.judge.covers(path.replace(/\/$/, ""))) continue;
    if (!path.endsWith("/") && (await isIdenticalInClone(context, path))) continue;
    paths.push(path);
  }
  return paths;
}

function isInNested(tree: WorkingTree, path: string): boolean {
  if (!path.startsWith(`${WORKTREES_PLACE}/`)) return false;
  const name = path.slice(WORKTREES_PLACE.length + 1).split("/")[0] ?? "";
  return tree.nestedNames.has(name);
}
