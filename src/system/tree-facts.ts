import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Identity } from "../model/worktree.ts";
import type { Programs } from "./programs.ts";
import { Gathering, type TreeFacts } from "./tree/gathering.ts";
import type { Weight } from "./tree/weight.ts";
import { findGnuFind } from "./tree/gnu-find.ts";
import { RecordReader, type Walk } from "./tree/records.ts";
import { createNodeWalk, WALK_WORKER } from "./tree/walk-threads.ts";

export type { TreeFacts } from "./tree/gathering.ts";
export { Weight } from "./tree/weight.ts";

export interface TreeReadOptions {
  /** Directories that are not entered and weigh nothing here. */
  readonly without?: readonly Identity[];
  readonly signal?: AbortSignal;
  /** Called during the walk with how many bytes were counted since the last call; files with several links are left out of it. */
  readonly onBytes?: (bytes: number) => void;
}

/** Walks trees. No link is followed and no mount point is entered. */
export interface TreeReader {
  /** Throws when the tree is no directory, when the walk was not understood, and with the signal's reason when that aborts. */
  read(tree: string, options?: TreeReadOptions): Promise<TreeFacts>;
  /** Reads no more of a tree than its weight takes. Throws as `read` does. */
  weigh(tree: string, options?: TreeReadOptions): Promise<Weight>;
}

/** Returns the fastest reader that this machine has: GNU find where there is one, else a walk by Node itself. */
export async function createTreeReader(programs: Programs): Promise<TreeReader> {
  const byNode = createNodeWalk(WALK_WORKER);
  const byFind = await findGnuFind(programs);
  if (byFind === null) return readerBy(byNode);
  return readerBy((tree, asked) =>
    // An Identity holds such a number rounded, and find would look for another one.
    (asked.without.every(Number.isSafeInteger) ? byFind : byNode)(tree, asked),
  );
}

/** Returns the reader that needs no program: for macOS, whose find has no `-printf`, and busybox. `worker` is its threads' program. */
export function createNodeTreeReader(worker = WALK_WORKER): TreeReader {
  return readerBy(createNodeWalk(worker));
}

function readerBy(walk: Walk): TreeReader {
  return {
    read: (tree, options = {}) => read(walk, resolve(tree), options, false),
    weigh: async (tree, options = {}) => (await read(walk, resolve(tree), options, true)).weight,
  };
}

async function read(
  walk: Walk,
  tree: string,
  { without = [], signal, onBytes }: TreeReadOptions,
  weightOnly: boolean,
): Promise<TreeFacts> {
  const before = await lstatTree(tree);
  const inodes = without.filter(({ device }) => device === before.dev).map(({ inode }) => inode);
  const gathering = new Gathering(tree);
  const records = new RecordReader(gathering, before.dev);
  signal?.throwIfAborted();
  try {
    for await (const piece of walk(tree, { without: inodes, weightOnly, signal })) {
      const counted = gathering.weight.settledBytes;
      records.push(piece);
      onBytes?.(gathering.weight.settledBytes - counted);
      signal?.throwIfAborted();
    }
  } catch (error) {
    // Whatever an interrupted walk says, this is why.
    signal?.throwIfAborted();
    throw error;
  }
  records.finish();
  const after = await lstatTree(tree);
  if (!records.sawDirectory || after.dev !== before.dev || after.ino !== before.ino) {
    throw new Error(`${tree} was replaced while it was read`);
  }
  return gathering.finish();
}

/** Returns what lies at the tree's own path. Throws unless it is a directory. */
async function lstatTree(tree: string): Promise<Stats> {
  const stats = await lstat(tree);
  if (!stats.isDirectory()) throw new Error(`${tree} is not a directory`);
  return stats;
}
