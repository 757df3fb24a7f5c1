import type { Question } from "../model/evidence.ts";

export type ReasonCode =
  | "locked"
  | "uncommitted"
  | "ignored"
  | "in-progress"
  | "unpushed"
  | "embedded-repository"
  | "could-not-tell"
  | "live-registration"
  | "in-use"
  | "nested"
  | "mount-point"
  | "not-removable";

/** One reason that a worktree stays. */
export interface Reason {
  readonly code: ReasonCode;
  /** One sentence without a period; it may hold a repository's own words. */
  readonly detail: string;
  readonly paths: readonly string[];
  readonly commits: readonly string[];
  /** The questions without an answer; empty for every code but `could-not-tell`. */
  readonly questions: readonly Question[];
}

/** Makes a reason; paths and commits only where there are some. */
export function reason(
  code: ReasonCode,
  detail: string,
  more: Partial<Pick<Reason, "paths" | "commits" | "questions">> = {},
): Reason {
  return { code, detail, paths: [], commits: [], questions: [], ...more };
}

/** Which reasons `--force-worktrees` carries a worktree past (SPEC §2). `nested` passes when what is inside passes: the plan knows. */
const PASSES = {
  locked: true,
  uncommitted: true,
  ignored: true,
  "in-progress": true,
  unpushed: true,
  "embedded-repository": false,
  "could-not-tell": true,
  "live-registration": false,
  "in-use": false,
  nested: false,
  "mount-point": false,
  "not-removable": false,
} as const satisfies Record<ReasonCode, boolean>;

/**
 * Which questions may stay unanswered in a forced removal: those whose answer the archive makes up for, by saving all that there is. The flag
 * cannot carry a worktree past a repository inside it or a process in it, and so not past not knowing of one either.
 */
const MAY_BE_UNANSWERED = {
  registration: false,
  uncommitted: true,
  ignored: true,
  "in-progress": true,
  unpushed: true,
  "embedded-repository": false,
  "in-use": false,
  "mount-point": false,
  "not-removable": false,
} as const satisfies Record<Question, boolean>;

/** Whether `--force-worktrees` carries a worktree past this reason. */
export function isPassedByForce(given: Reason): boolean {
  return PASSES[given.code] && given.questions.every((question) => MAY_BE_UNANSWERED[question]);
}

/** The reasons past which a worktree goes only after its content was saved (SPEC §6.10). */
export function mustBeArchived(given: Reason): boolean {
  switch (given.code) {
    case "uncommitted":
    case "unpushed":
    case "in-progress":
    case "could-not-tell":
      return true;
    case "locked":
    case "ignored":
    case "embedded-repository":
    case "live-registration":
    case "in-use":
    case "nested":
    case "mount-point":
    case "not-removable":
      return false;
  }
}
