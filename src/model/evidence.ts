import type { Head } from "./worktree.ts";

/** The questions that are put to every worktree before it may go; each is answered, or it stays. */
export const QUESTIONS = [
  "registration",
  "uncommitted",
  "ignored",
  "in-progress",
  "unpushed",
  "embedded-repository",
  "in-use",
  "mount-point",
  "not-removable",
] as const;

export type Question = (typeof QUESTIONS)[number];

/** An answer, or the words of whoever could not give it. A failed probe is never an empty answer. */
export type Answer<T> =
  | { readonly kind: "answered"; readonly value: T }
  | { readonly kind: "unanswered"; readonly words: string };

export function answered<T>(value: T): Answer<T> {
  return { kind: "answered", value };
}

export function unanswered(words: string): Answer<never> {
  return { kind: "unanswered", words };
}

/** Ignored files that exist nowhere else. */
export interface OnlyCopies {
  /** Paths relative to the worktree, at most `MAX_NAMED`. */
  readonly paths: readonly string[];
  readonly files: number;
  /** Allocated bytes. */
  readonly bytes: number;
}

export interface UnpushedCommits {
  /** Commits that no safe ref reaches, newest first. */
  readonly commits: readonly string[];
}

export interface Occupant {
  readonly pid: number;
  /** The program's own name, as the system gives it. */
  readonly name: string;
}

export interface StuckDirectory {
  /** Relative to the worktree; "" is the worktree itself. */
  readonly path: string;
  readonly owner: string;
}

/** What every question came to, for one worktree. Keyed by question, so that a new question does not compile until it is judged. */
export interface Answers {
  /** What `Registration` cannot hold by itself: words when the registration does not fit the directory; null when it does. */
  readonly registration: Answer<null>;
  /** Paths with work in them: staged, unstaged, untracked, conflicted, hidden by an index bit. */
  readonly uncommitted: Answer<readonly string[]>;
  readonly ignored: Answer<OnlyCopies>;
  /** Names of the operations under way: `merge`, `rebase`, … */
  readonly "in-progress": Answer<readonly string[]>;
  readonly unpushed: Answer<UnpushedCommits>;
  /** Paths of repositories inside the worktree, and of submodules whose store holds more than their remotes. */
  readonly "embedded-repository": Answer<readonly string[]>;
  readonly "in-use": Answer<readonly Occupant[]>;
  /** Mount points at or below the worktree, relative to it ("" is the worktree itself). */
  readonly "mount-point": Answer<readonly string[]>;
  readonly "not-removable": Answer<readonly StuckDirectory[]>;
}

/** What is known of one worktree. `head` is null for a directory that git forgot. */
export interface Evidence {
  readonly head: Head | null;
  readonly answers: { readonly [Q in Question]: Answers[Q] };
}

/** How many paths or commits a reason names at most; the count is always exact. */
export const MAX_NAMED = 100;
