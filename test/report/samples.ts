import type {
  ArchiveEntry,
  CloneEntry,
  LsCloneEntry,
  LsDocument,
  PruneDocument,
  PruneNotes,
  ReasonEntry,
  RestoreDocument,
  StrayRegistrationEntry,
  WorktreeEntry,
} from "../../src/report/documents.ts";
import { makeStyle } from "../../src/report/style.ts";
import type { View } from "../../src/report/view.ts";

export const NOW = new Date("2026-01-31T12:00:00.000Z");
export const COMMIT = "67d8218b0123456789abcdef0123456789abcdef";
export const NO_NOTES: PruneNotes = { archives: new Map(), unseenProcesses: null, freeSpaceChange: null };

/** A view of what is piped: no colour, nothing shortened. */
export function view(more: Partial<View> = {}): View {
  return {
    style: makeStyle(false),
    width: null,
    now: NOW,
    verbose: false,
    flags: { force: false, discardIgnored: false },
    ...more,
  };
}

/** A view of a terminal of so many columns. */
export function terminal(width: number, more: Partial<View> = {}): View {
  return view({ width, ...more });
}

export function place(...names: string[]): string {
  return names.map((name) => `.claude/worktrees/${name}`).join("/");
}

export function reason(code: string, detail: string, more: Partial<ReasonEntry> = {}): ReasonEntry {
  return { code, detail, paths: [], commits: [], ...more };
}

/** A worktree of 4 MiB that goes, or that stays for the reasons given. */
export function worktree(path: string, more: Partial<WorktreeEntry> = {}): WorktreeEntry {
  const stays = (more.reasons ?? []).length > 0 && more.forced !== true;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return {
    path,
    class: (more.reasons ?? []).length > 0 ? "held" : "prunable",
    registration: { state: "prunable", id: name, recordedPath: `/workspaces/ws/${path}`, lockReason: null },
    head: { branch: `refs/heads/${name}`, commit: COMMIT },
    parent: null,
    decision: stays ? "keep" : "remove",
    forced: false,
    reasons: [],
    removalRoot: stays ? null : path,
    bytes: 4 * 1024 * 1024,
    bytesAreFloor: false,
    outcome: stays ? "kept" : "planned",
    error: null,
    ...more,
  };
}

export function stray(id: string, more: Partial<StrayRegistrationEntry> = {}): StrayRegistrationEntry {
  return {
    id,
    recordedPath: `/workspaces/ws/${place(id)}`,
    head: { branch: `refs/heads/${id}`, commit: COMMIT },
    decision: "drop",
    reasons: [],
    outcome: "planned",
    ...more,
  };
}

export function clone(worktrees: readonly WorktreeEntry[], more: Partial<CloneEntry> = {}): CloneEntry {
  return {
    path: "/repos/acme/widget/ws",
    owner: "acme",
    repo: "widget",
    workspace: "ws",
    bare: { path: "/repos/acme/widget/.bare", lastFetch: "2026-01-31T10:00:00.000Z" },
    error: null,
    worktrees,
    skipped: [],
    registrationsWithoutDirectory: [],
    metadata: { action: "none", heldBackBy: [], dropped: [], error: null },
    ...more,
  };
}

/** A document of clones, with totals that are theirs. */
export function prune(clones: readonly CloneEntry[], mode: PruneDocument["mode"] = "dry-run"): PruneDocument {
  const worktrees = clones.flatMap((one) => one.worktrees);
  const count = (is: (entry: WorktreeEntry) => boolean): number => worktrees.filter(is).length;
  const bytes = (is: (entry: WorktreeEntry) => boolean): number =>
    worktrees.filter((one) => one.removalRoot === one.path && is(one)).reduce((sum, one) => sum + (one.bytes ?? 0), 0);
  return {
    schemaVersion: 1,
    command: "prune",
    mode,
    reposDir: "/repos",
    clones,
    totals: {
      worktrees: worktrees.length,
      forgotten: count((one) => one.class === "forgotten"),
      prunable: count((one) => one.class === "prunable"),
      locked: count((one) => one.class === "locked"),
      held: count((one) => one.class === "held"),
      skipped: clones.reduce((sum, { skipped }) => sum + skipped.length, 0),
      toRemove: count(({ decision }) => decision === "remove"),
      toRemoveBytes: bytes(() => true),
      removed: count(({ outcome }) => outcome === "removed"),
      freedBytes: bytes(({ outcome }) => outcome === "removed"),
      withheld: count(({ outcome }) => outcome === "withheld"),
      failed: count(({ outcome }) => outcome === "failed"),
    },
  };
}

export function lsClone(more: Partial<LsCloneEntry> = {}): LsCloneEntry {
  return {
    path: "/repos/acme/widget/ws",
    owner: "acme",
    repo: "widget",
    workspace: "ws",
    branch: "main",
    bare: { path: "/repos/acme/widget/.bare", lastFetch: "2026-01-31T10:00:00.000Z" },
    worktreeCount: 0,
    disk: null,
    worktreesDisk: null,
    worktrees: null,
    error: null,
    ...more,
  };
}

export function ls(clones: readonly LsCloneEntry[], isSized = false): LsDocument {
  const sum = (of: (one: LsCloneEntry) => number): number => clones.reduce((total, one) => total + of(one), 0);
  return {
    schemaVersion: 1,
    command: "ls",
    reposDir: "/repos",
    clones,
    totals: {
      clones: clones.length,
      worktrees: sum(({ worktreeCount }) => worktreeCount),
      bytes: isSized ? sum(({ disk }) => disk?.bytes ?? 0) : null,
      worktreesBytes: isSized ? sum(({ worktreesDisk }) => worktreesDisk?.bytes ?? 0) : null,
    },
  };
}

export function archive(name: string, more: Partial<ArchiveEntry> = {}): ArchiveEntry {
  return {
    name: `2026-01-30/ws/${name}`,
    ref: `refs/dl/archive/2026-01-30/ws/${name}`,
    repository: "/repos/acme/widget/.bare",
    createdAt: "2026-01-30T10:00:00.000Z",
    workspace: "ws",
    worktree: place(name),
    branch: `refs/heads/${name}`,
    commit: COMMIT,
    changedPaths: 3,
    ...more,
  };
}

export function restore(
  archives: readonly ArchiveEntry[],
  restored: RestoreDocument["restored"] = null,
): RestoreDocument {
  return { schemaVersion: 1, command: "restore", reposDir: "/repos", archives, restored };
}
