import { answered, type Answers, type Evidence } from "../../src/model/evidence.ts";
import type { ScannedClone, ScannedWorktree, StrayAnswers, StrayRegistration } from "../../src/model/scan.ts";
import type { Registered, Registration, Skipped, SkippedCode, Worktree } from "../../src/model/worktree.ts";

/** Returns answers in which nothing speaks against a removal, but for those that are given. */
export function answers(given: Partial<Answers> = {}): Answers {
  return {
    registration: answered(null),
    uncommitted: answered([]),
    ignored: answered({ paths: [], files: 0, bytes: 0 }),
    "in-progress": answered([]),
    unpushed: answered({ commits: [] }),
    "embedded-repository": answered([]),
    "in-use": answered([]),
    "mount-point": answered([]),
    "not-removable": answered([]),
    ...given,
  };
}

/** Returns a registration as a container leaves it. */
export function registration(
  id: string,
  state: "prunable" | "live" | "locked" = "prunable",
  lockReason: string | null = null,
): Registered {
  const admin = {
    kind: "readable" as const,
    id,
    directory: `/repos/o/r/ws/.git/worktrees/${id}`,
    recordedPath: `/workspaces/ws/.claude/worktrees/${id}`,
    headText: null,
    lock: null,
  };
  return state === "locked" ? { state, admin, lockReason } : { state, admin };
}

/** Returns the place of a path of names: `a1`, or `a1/n1` for one that is nested. */
export function placeOf(path: string): string {
  return path
    .split("/")
    .map((name) => `.claude/worktrees/${name}`)
    .join("/");
}

function parentOf(path: string): string | null {
  return path.includes("/") ? placeOf(path.slice(0, path.lastIndexOf("/"))) : null;
}

/** Returns a scanned worktree at a path of names. */
export function scanned(
  path: string,
  given: Partial<Answers> = {},
  standing: Registration = registration(path.replaceAll("/", "-")),
): ScannedWorktree {
  const evidence: Evidence = {
    head: standing.state === "none" ? null : { kind: "branch", ref: `refs/heads/${path}`, commit: "a".repeat(40) },
    answers: answers(given),
  };
  const worktree: Worktree = {
    place: placeOf(path),
    parent: parentOf(path),
    directory: `/repos/o/r/ws/${placeOf(path)}`,
    identity: { device: 1, inode: [...path].reduce((sum, character) => sum * 31 + character.charCodeAt(0), 7) },
    gitfileId: path,
    registration: standing,
    misfit: null,
  };
  return { worktree, evidence, size: { bytes: 1000, isFloor: false } };
}

/** Returns a skipped entry at a path of names. */
export function skipped(path: string, code: SkippedCode = "symlink"): Skipped {
  return { place: placeOf(path), parent: parentOf(path), code, detail: "" };
}

/** Returns a registration for which no directory stands. */
export function stray(
  id: string,
  given: Partial<StrayAnswers> = {},
  standing: Registered = registration(id),
): StrayRegistration {
  const { registration: fits, uncommitted, unpushed, ...more } = answers();
  return {
    registration: standing,
    place: placeOf(id),
    head: { kind: "detached", commit: "a".repeat(40) },
    answers: {
      registration: fits,
      uncommitted,
      unpushed,
      "in-progress": more["in-progress"],
      "embedded-repository": more["embedded-repository"],
      ...given,
    },
  };
}

/** Returns a clone that was scanned with these worktrees. */
export function clone(
  worktrees: readonly ScannedWorktree[],
  skippedEntries: readonly Skipped[] = [],
  more: Partial<ScannedClone> = {},
): ScannedClone {
  return {
    clone: {
      path: "/repos/o/r/ws",
      gitDir: "/repos/o/r/ws/.git",
      repositoryDir: "/repos/o/r",
      owner: "o",
      repo: "r",
      workspace: "ws",
      bare: null,
    },
    error: null,
    worktrees,
    skipped: skippedEntries,
    strays: [],
    ...more,
  };
}
