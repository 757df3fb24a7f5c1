import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { wordsOf } from "../errors.ts";
import { readAdminDirectories } from "../git/admin-directory.ts";
import type { Clone } from "../model/clone.ts";
import { WORKTREES_PLACE } from "../model/place.ts";
import type { Identity } from "../model/worktree.ts";
import { mapConcurrently } from "../system/concurrency.ts";
import { lstatOrNull, lstatWithin, readSmallFile } from "../system/small-file.ts";
import { Weight } from "../system/tree-facts.ts";
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

/** What worktrees were found to weigh, each without those nested in it, by their directories; null for one that could not be walked. */
export type Weighed = ReadonlyMap<string, Weight | null>;

/** How many trees of one clone are walked at a time. */
const AT_A_TIME = 4;

/**
 * Walks a clone once, in disjoint parts, several at a time: itself, its worktrees place, and what stands in that, entry by entry. What was weighed
 * before is not walked again. Throws when it cannot be walked.
 */
export async function weighClone(
  tools: Tools,
  clone: Clone,
  weighed: Weighed,
  onBytes: (bytes: number) => void,
): Promise<CloneWeight> {
  const place = await lstatWithin(clone.path, WORKTREES_PLACE);
  const weigh = (tree: string, without: readonly Identity[]): Promise<Weight> =>
    tools.trees.weigh(tree, { signal: tools.signal, onBytes, without });
  if (place?.isDirectory() !== true) return { own: await weigh(clone.path, []), worktrees: null };
  const root = join(clone.path, WORKTREES_PLACE);
  const entries = await listDirectories(root);
  const parts = [
    { tree: clone.path, without: [{ device: place.dev, inode: place.ino }] },
    { tree: root, without: entries.map(({ identity }) => identity) },
    ...entries.map(({ path }) => ({ tree: path, without: [] })),
  ];
  const [own = new Weight(), ...others] = await mapConcurrently(
    parts,
    AT_A_TIME,
    async ({ tree, without }) => weighedWhole(weighed, tree) ?? weigh(tree, without),
  );
  const worktrees = new Weight();
  for (const weight of others) worktrees.add(weight);
  return { own, worktrees };
}

/** Returns the weight of a worktree with all that are nested in it, or null when not all of that is known. */
function weighedWhole(weighed: Weighed, directory: string): Weight | null {
  if (!weighed.has(directory)) return null;
  const whole = new Weight();
  for (const [path, part] of weighed) {
    if (path !== directory && !path.startsWith(`${directory}/`)) continue;
    if (part === null) return null;
    whole.add(part);
  }
  return whole;
}

async function listDirectories(root: string): Promise<{ path: string; identity: Identity }[]> {
  const found: { path: string; identity: Identity }[] = [];
  for (const name of await readdir(root)) {
    const path = join(root, name);
    // What cannot be looked at by its name is weighed with the place.
    const stats = name.includes("\uFFFD") ? null : await lstatOrNull(path);
    if (stats?.isDirectory() === true) found.push({ path, identity: { device: stats.dev, inode: stats.ino } });
  }
  return found;
}
