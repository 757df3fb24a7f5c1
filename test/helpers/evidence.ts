import { answered, type Answers, type Evidence } from "../../src/model/evidence.ts";
import type { ScannedClone, ScannedWorktree } from "../../src/model/scan.ts";
import type { Registration, Skipped, Worktree } from "../../src/model/worktree.ts";

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
): Registration {
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

/** Returns a scanned worktree at a path of names: `a1`, or `a1/n1` for one that is nested. */
export function scanned(
  path: string,
  given: Partial<Answers> = {},
  standing: Registration = registration(path.replaceAll("/", "-")),
): ScannedWorktree {
  const names = path.split("/");
  const placeOf = (parts: readonly string[]): string => parts.map((name) => `.claude/worktrees/${name}`).join("/");
  const evidence: Evidence = {
    head: standing.state === "none" ? null : { kind: "branch", ref: `refs/heads/${path}`, commit: "a".repeat(40) },
    answers: answers(given),
  };
  const worktree: Worktree = {
    place: placeOf(names),
    parent: names.length === 1 ? null : placeOf(names.slice(0, -1)),
    directory: `/repos/o/r/ws/${placeOf(names)}`,
    identity: { device: 1, inode: [...path].reduce((sum, character) => sum * 31 + character.charCodeAt(0), 7) },
    gitfileId: path,
    registration: standing,
    misfit: null,
  };
  return { worktree, evidence, size: { bytes: 1000, isFloor: false } };
}

/** Returns a clone that was scanned with these worktrees. */
export function clone(worktrees: readonly ScannedWorktree[], skipped: readonly Skipped[] = []): ScannedClone {
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
    skipped,
    strays: [],
  };
}
