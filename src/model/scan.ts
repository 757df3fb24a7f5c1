import type { Clone } from "./clone.ts";
import type { Answers, Evidence } from "./evidence.ts";
import type { Head, Registered, Skipped, Worktree } from "./worktree.ts";

/** What removing a tree would give back: allocated bytes (SPEC §5). */
export interface Size {
  readonly bytes: number;
  /** A directory in it could not be read: the figure is only a floor. */
  readonly isFloor: boolean;
}

export interface ScannedWorktree {
  readonly worktree: Worktree;
  readonly evidence: Evidence;
  /** Of the whole subtree, nested worktrees included; null when it could not be measured. */
  readonly size: Size | null;
}

/** What is asked of a registration that has no directory: all that dies with its admin directory. */
export interface StrayAnswers extends Pick<
  Answers,
  "registration" | "uncommitted" | "in-progress" | "unpushed" | "embedded-repository"
> {}

/** A registration for which no directory stands in the clone. */
export interface StrayRegistration {
  readonly registration: Registered;
  /** Its place in the clone, or null where its recorded path is none. */
  readonly place: string | null;
  readonly head: Head | null;
  readonly answers: StrayAnswers;
}

/** A clone as it was read at one moment. */
export interface ScannedClone {
  readonly clone: Clone;
  /** Why the clone could not be read, in git's or the system's words; null when it could. */
  readonly error: string | null;
  readonly worktrees: readonly ScannedWorktree[];
  readonly skipped: readonly Skipped[];
  readonly strays: readonly StrayRegistration[];
}
