import type { Clone } from "../model/clone.ts";
import type { Size } from "../model/scan.ts";
import type { PlannedWorktree } from "../plan/plan.ts";
import type { DiskEntry, LsCloneEntry, LsDocument } from "./documents.ts";

/** What is listed of one clone; null for what was not asked for. */
export interface ListedClone {
  readonly clone: Clone;
  readonly branch: string | null;
  readonly worktreeCount: number;
  readonly error: string | null;
  readonly disk: DiskEntry | null;
  readonly worktreesDisk: DiskEntry | null;
  readonly worktrees: readonly Pick<PlannedWorktree, "worktree" | "class" | "size">[] | null;
}

/** Makes the JSON document of a listing: the heaviest clone first where sizes are there, else by path. */
export function lsDocument(reposDir: string, listed: readonly ListedClone[], withSizes: boolean): LsDocument {
  const clones = listed.map((one) => cloneEntry(one, withSizes));
  const sum = (of: (clone: LsCloneEntry) => number): number => clones.reduce((total, clone) => total + of(clone), 0);
  return {
    schemaVersion: 1,
    command: "ls",
    reposDir,
    clones: withSizes ? clones.toSorted((a, b) => (b.disk?.bytes ?? 0) - (a.disk?.bytes ?? 0)) : clones,
    totals: {
      clones: clones.length,
      worktrees: sum(({ worktreeCount }) => worktreeCount),
      bytes: withSizes ? sum(({ disk }) => disk?.bytes ?? 0) : null,
      worktreesBytes: withSizes ? sum(({ worktreesDisk }) => worktreesDisk?.bytes ?? 0) : null,
    },
  };
}

function cloneEntry(
  { clone, branch, worktreeCount, error, disk, worktreesDisk, worktrees }: ListedClone,
  withSizes: boolean,
): LsCloneEntry {
  return {
    path: clone.path,
    owner: clone.owner,
    repo: clone.repo,
    workspace: clone.workspace,
    branch,
    bare:
      clone.bare === null ? null : { path: clone.bare.path, lastFetch: clone.bare.lastFetch?.toISOString() ?? null },
    worktreeCount,
    disk,
    worktreesDisk,
    worktrees:
      worktrees
        ?.map((one) => ({ path: one.worktree.place, class: one.class, ...sizeEntry(withSizes ? one.size : null) }))
        .toSorted((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0)) ?? null,
    error,
  };
}

function sizeEntry(size: Size | null): { bytes: number | null; bytesAreFloor: boolean } {
  return { bytes: size?.bytes ?? null, bytesAreFloor: size?.isFloor ?? false };
}
