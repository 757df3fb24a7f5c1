/** The three JSON documents (SPEC §4). Keys are camelCase, absent facts are null, byte figures are allocated bytes as integers. */

export type ClassName = "forgotten" | "prunable" | "locked" | "held";

export interface ReasonEntry {
  readonly code: string;
  /** One sentence, without control characters of its own making; it may hold a repository's words. */
  readonly detail: string;
  readonly paths: readonly string[];
  readonly commits: readonly string[];
}

export interface HeadEntry {
  readonly branch: string | null;
  readonly commit: string | null;
}

export interface WorktreeEntry {
  /** Relative to the clone. */
  readonly path: string;
  readonly class: ClassName;
  readonly registration: {
    /** null: the admin directory could not be read. */
    readonly state: "none" | "prunable" | "locked" | "live" | null;
    readonly id: string | null;
    readonly recordedPath: string | null;
    readonly lockReason: string | null;
  };
  readonly head: HeadEntry | null;
  readonly parent: string | null;
  readonly decision: "remove" | "keep";
  readonly forced: boolean;
  readonly reasons: readonly ReasonEntry[];
  readonly removalRoot: string | null;
  readonly bytes: number | null;
  readonly bytesAreFloor: boolean;
  readonly outcome: "planned" | "removed" | "withheld" | "kept" | "failed";
  readonly error: string | null;
}

export interface SkippedEntry {
  readonly path: string;
  readonly code: "other-repository" | "not-a-worktree" | "symlink" | "unreadable-gitfile";
  readonly detail: string;
}

export interface StrayRegistrationEntry {
  readonly id: string;
  readonly recordedPath: string | null;
  readonly head: HeadEntry | null;
  readonly decision: "drop" | "keep";
  readonly reasons: readonly ReasonEntry[];
  readonly outcome: "planned" | "dropped" | "kept" | "failed";
}

export interface CloneEntry {
  readonly path: string;
  readonly owner: string | null;
  readonly repo: string | null;
  readonly workspace: string;
  readonly bare: { readonly path: string; readonly lastFetch: string | null } | null;
  readonly error: string | null;
  readonly worktrees: readonly WorktreeEntry[];
  readonly skipped: readonly SkippedEntry[];
  readonly registrationsWithoutDirectory: readonly StrayRegistrationEntry[];
  readonly metadata: {
    readonly action: "none" | "pruned" | "held-back";
    readonly heldBackBy: readonly string[];
    readonly dropped: readonly string[];
    readonly error: string | null;
  };
}

export interface PruneDocument {
  readonly schemaVersion: 1;
  readonly command: "prune";
  readonly mode: "dry-run" | "declined" | "acted";
  readonly reposDir: string;
  readonly clones: readonly CloneEntry[];
  readonly totals: {
    readonly worktrees: number;
    readonly forgotten: number;
    readonly prunable: number;
    readonly locked: number;
    readonly held: number;
    readonly skipped: number;
    readonly toRemove: number;
    readonly toRemoveBytes: number;
    readonly removed: number;
    readonly freedBytes: number;
    readonly withheld: number;
    readonly failed: number;
  };
}

/** What the text of a prune says beyond the document. */
export interface PruneNotes {
  /** Archives that forced removals saved in this run, keyed by `<clone path>/<worktree path>`: the name below `refs/dl/archive/`. */
  readonly archives: ReadonlyMap<string, string>;
  /** Processes that could not be looked at: a sentence, or null when all could. Said, never taken for idle. */
  readonly unseenProcesses: string | null;
  /** Change of free space of the file systems over the acting pass, in bytes; null when it was not measured. */
  readonly freeSpaceChange: number | null;
}

export interface DiskEntry {
  readonly bytes: number;
  readonly isFloor: boolean;
  /** How many directories could not be read. */
  readonly unreadable: number;
}

export interface LsWorktreeEntry {
  readonly path: string;
  readonly class: ClassName;
  readonly bytes: number | null;
  readonly bytesAreFloor: boolean;
}

export interface LsCloneEntry {
  readonly path: string;
  readonly owner: string | null;
  readonly repo: string | null;
  readonly workspace: string;
  /** Short name of the branch that the clone's own checkout is on; null when it is detached or cannot be read. */
  readonly branch: string | null;
  readonly bare: { readonly path: string; readonly lastFetch: string | null } | null;
  readonly worktreeCount: number;
  readonly disk: DiskEntry | null;
  readonly worktreesDisk: DiskEntry | null;
  readonly worktrees: readonly LsWorktreeEntry[] | null;
  readonly error: string | null;
}

/** What the text says of a worktree beyond the document, keyed by `<clone path>/<worktree path>`. */
export interface LsWorktreeNote {
  /** Short branch name, or null when detached or forgotten. */
  readonly branch: string | null;
  /** When the commit at HEAD was made, or null. */
  readonly committedAt: Date | null;
  /** The first reason that it stays, or null. */
  readonly reason: ReasonEntry | null;
}

export interface LsDocument {
  readonly schemaVersion: 1;
  readonly command: "ls";
  readonly reposDir: string;
  readonly clones: readonly LsCloneEntry[];
  readonly totals: {
    readonly clones: number;
    readonly worktrees: number;
    /** null without `--size`. */
    readonly bytes: number | null;
    readonly worktreesBytes: number | null;
  };
}

export interface ArchiveEntry {
  /** Below `refs/dl/archive/`: `<date>/<workspace>/<name>`. */
  readonly name: string;
  readonly ref: string;
  /** The git directory that holds the ref: the bare, or the clone's where there is none. */
  readonly repository: string;
  readonly createdAt: string;
  readonly workspace: string;
  readonly worktree: string;
  readonly branch: string | null;
  readonly commit: string | null;
  readonly changedPaths: number;
}

export interface RestoreDocument {
  readonly schemaVersion: 1;
  readonly command: "restore";
  readonly reposDir: string;
  readonly archives: readonly ArchiveEntry[];
  readonly restored: { readonly name: string; readonly to: string } | null;
}
