import { join } from "node:path";
import { wordsOf } from "../errors.ts";
import { readAdminDirectories } from "../git/admin-directory.ts";
import type { Clone } from "../model/clone.ts";
import { WORKTREES_PLACE } from "../model/place.ts";
import { lstatWithin, readSmallFile } from "../system/small-file.ts";
import type { Weight } from "../system/tree-facts.ts";
import { decideRegistrations } from "./registrations.ts";
import type { Tools } from "./tools.ts";
import { listWorktrees } from "./worktrees.ts";

/** What a clone is, as far as it can be told without git and without a walk. */
export interface CloneOverview {
  readonly clone: Clone;
  /** Short name of the branch that its own checkout is on; null when detached or not readable. */
  readonly branch: string | null;
  readonly worktreeCount: number;
  readonly error: string | null;
}

/** Looks at one clone: its HEAD, and how many worktrees stand in its worktrees places. */
export async function overviewOf(clone: Clone): Promise<CloneOverview> {
  try {
    const head = (await readSmallFile(join(clone.gitDir, "HEAD")))?.toString("utf8") ?? "";
    const branch = /^ref:\s*refs\/heads\/(.+?)\s*$/.exec(head)?.[1] ?? null;
    const admins = await readAdminDirectories(join(clone.gitDir, "worktrees"));
    if (admins.kind === "unreadable") return { clone, branch, worktreeCount: 0, error: admins.words };
    const { worktrees } = await listWorktrees(clone, await decideRegistrations(clone, admins.records), {
      kind: "clone",
    });
    return {
      clone,
      branch,
      worktreeCount: worktrees.length,
      error: head === "" ? `${clone.gitDir} has no HEAD` : null,
    };
  } catch (error) {
    return { clone, branch: null, worktreeCount: 0, error: wordsOf(error) };
  }
}

/** The weight of a clone in two disjoint parts, which add up to its own. */
export interface CloneWeight {
  /** Everything but its worktrees place. */
  readonly own: Weight;
  /** Its `.claude/worktrees/` tree, that directory included; null when it has none. */
  readonly worktrees: Weight | null;
}

/** Walks a clone once, in its two parts. Throws when it cannot be walked. */
export async function weighClone(tools: Tools, clone: Clone, onBytes: (bytes: number) => void): Promise<CloneWeight> {
  const place = await lstatWithin(clone.path, WORKTREES_PLACE);
  const isPlace = place?.isDirectory() === true;
  const without = isPlace ? [{ device: place.dev, inode: place.ino }] : [];
  const options = { signal: tools.signal, onBytes };
  const [own, worktrees] = await Promise.all([
    tools.trees.read(clone.path, { ...options, without }),
    isPlace ? tools.trees.read(join(clone.path, WORKTREES_PLACE), options) : null,
  ]);
  return { own: own.weight, worktrees: worktrees?.weight ?? null };
}
