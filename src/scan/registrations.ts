import { isAbsolute, join, resolve } from "node:path";
import { errnoOf, wordsOf } from "../errors.ts";
import type { Clone } from "../model/clone.ts";
import { isWorktreePlace, splitAtPlace } from "../model/place.ts";
import type { AdminRecord, ReadableAdmin, Registered } from "../model/worktree.ts";
import { lstatOrNull } from "../system/small-file.ts";
import { withinTime } from "../system/time-limit.ts";

/** The registrations of a clone, decided, and how a recorded path is read there. */
export interface Registrations {
  readonly all: readonly Registered[];
  /** Returns the worktree's place that a registration records, or null when it records none of this clone. */
  placeOf(registration: Registered): string | null;
  /** Whether what stands before `/.git/worktrees/<id>` in the gitfile of the entry at `place` means this clone. */
  isOwnPrefix(prefix: string, place: string): boolean;
  /** Returns a recorded path relative to the clone, or null when it does not lie in it. */
  insideClone(recordedPath: string, id: string): string | null;
}

/**
 * Decides the state of every registration as git does: a `locked` file, else whether anything exists at the recorded gitfile's path, which is
 * the one question ever asked of that path (SPEC §2). Whose prefixes count as this clone's: its own path, `/workspaces/<workspace>`, and
 * what its registrations record, unless that path exists on this host and so may belong to somebody else.
 */
export async function decideRegistrations(clone: Clone, records: readonly AdminRecord[]): Promise<Registrations> {
  const all = await Promise.all(records.map((record) => decide(clone, record)));
  const prefixes = new Set([clone.path, `/workspaces/${clone.workspace}`]);
  for (const registration of all) {
    if (registration.state === "unreadable" || registration.state === "live") continue;
    const split = splitAtPlace(registration.admin.recordedPath);
    if (split !== null && isAbsolute(split.prefix)) prefixes.add(split.prefix);
  }
  const insideClone = (recordedPath: string, id: string): string | null => {
    if (!isAbsolute(recordedPath)) {
      const path = resolve(join(clone.gitDir, "worktrees", id), recordedPath);
      return path.startsWith(`${clone.path}/`) ? path.slice(clone.path.length + 1) : null;
    }
    for (const prefix of prefixes)
      if (recordedPath.startsWith(`${prefix}/`)) return recordedPath.slice(prefix.length + 1);
    return null;
  };
  return {
    all,
    insideClone,
    placeOf(registration) {
      if (registration.state === "unreadable") return null;
      const inside = insideClone(registration.admin.recordedPath, registration.admin.id);
      return inside !== null && isWorktreePlace(inside) ? inside : null;
    },
    isOwnPrefix(prefix, place) {
      return isAbsolute(prefix) ? prefixes.has(prefix) : resolve(clone.path, place, prefix) === clone.path;
    },
  };
}

async function decide(clone: Clone, record: AdminRecord): Promise<Registered> {
  if (record.kind === "unreadable") return { state: "unreadable", id: record.id, words: record.words };
  if (record.lock !== null) return { state: "locked", admin: record, lockReason: record.lock.reason };
  try {
    return { state: (await exists(clone, record)) ? "live" : "prunable", admin: record };
  } catch (error) {
    return {
      state: "unreadable",
      id: record.id,
      words: `whether its recorded path exists could not be told: ${wordsOf(error)}`,
    };
  }
}

async function exists(clone: Clone, record: ReadableAdmin): Promise<boolean> {
  // A relative path counts from the admin directory's place in the clone (git 2.48, worktree.useRelativePaths).
  const gitfile = resolve(join(clone.gitDir, "worktrees", record.id), record.recordedPath, ".git");
  try {
    return (await withinTime(lstatOrNull(gitfile), "the recorded path")) !== null;
  } catch (error) {
    // git calls a path through a file, or one too long to exist, absent too.
    if (errnoOf(error) === "ENAMETOOLONG") return false;
    throw error;
  }
}
