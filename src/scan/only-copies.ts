import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type BigIntStats,
  type Stats,
} from "node:fs";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { errnoOf } from "../errors.ts";
import { MAX_NAMED, type OnlyCopies } from "../model/evidence.ts";
import { WORKTREES_PLACE } from "../model/place.ts";
import { isPlain, isUndecodable, look, parentOf, type RegenerableJudge } from "./regenerable.ts";

/** What is needed to tell whether a file of a worktree is the only one. */
export interface CopyContext {
  /** Absolute path of the worktree's bytes. */
  readonly worktree: string;
  /** Absolute path of the clone's own checkout. */
  readonly clone: string;
  readonly judge: RegenerableJudge;
  /** Whether a path, relative to the worktree, is an entry of its own worktrees place: judged elsewhere, not entered here. */
  readonly isNestedPlace: (relativePath: string) => boolean;
  readonly signal: AbortSignal;
}

/** How long entries are looked at before other work gets its turn. */
const TURN_MS = 30;
const CHUNK = 1024 * 1024;

/**
 * Whether the regular file or symbolic link at `path` of the worktree is the same, byte for byte, at `path` of the clone's own checkout: another
 * file, which stays when the worktree goes. A link to that very path of the clone is the same too: all it says is where the clone's own lies.
 * Throws when it cannot be told.
 */
export async function isIdenticalInClone(context: CopyContext, path: string): Promise<boolean> {
  return new CloneCheckout(context).hasIdentical(path);
}

/**
 * Finds what would be lost of the ignored entries, as `git status --ignored=matching` prints them: files and links that are neither
 * regenerable nor identical in the clone. Directories that can be made again as a whole are not entered. Throws when it cannot be told.
 */
export async function findOnlyCopies(context: CopyContext, entries: readonly string[]): Promise<OnlyCopies> {
  const walk = new Walk(context);
  for (const entry of entries) await walk.start(entry.endsWith("/") ? entry.slice(0, -1) : entry);
  return { paths: walk.paths, files: walk.files, bytes: walk.bytes };
}

class Walk {
  readonly paths: string[] = [];
  files = 0;
  bytes = 0;
  readonly #context: CopyContext;
  readonly #clone: CloneCheckout;
  /** Files with more than one link that were weighed: each weighs once (SPEC §5). */
  readonly #weighed = new Set<string>();
  #since = performance.now();

  constructor(context: CopyContext) {
    this.#context = context;
    this.#clone = new CloneCheckout(context);
  }

  async start(entry: string): Promise<void> {
    if (!isPlain(entry)) throw new Error(`${entry} is no path below the worktree`);
    for (const parent of parentsOf(entry)) {
      if (this.#context.isNestedPlace(parent)) return;
      if (isUndecodable(parent)) break;
      const stats = look(join(this.#context.worktree, parent));
      if (stats === null) return;
      if (!stats.isDirectory()) throw new Error(`${entry} cannot be examined: ${parent} is no directory any more`);
    }
    await this.#visit(entry);
  }

  async #visit(path: string): Promise<void> {
    if (performance.now() - this.#since > TURN_MS) {
      await setImmediate();
      this.#since = performance.now();
    }
    this.#context.signal.throwIfAborted();
    // Under the name that is left of it the file cannot be found, and what cannot be found must not count as gone.
    if (isUndecodable(path)) {
      if (!(await this.#context.judge.covers(path))) this.#count(path, null);
      return;
    }
    const stats = look(join(this.#context.worktree, path));
    if (stats === null) return;
    if (stats.isDirectory()) return this.#enter(path);
    // FIFOs, sockets and devices hold nothing.
    if (!stats.isFile() && !stats.isSymbolicLink()) return;
    if (await this.#context.judge.covers(path)) return;
    if (await this.#clone.hasIdentical(path)) return;
    this.#count(path, stats);
  }

  async #enter(directory: string): Promise<void> {
    if (this.#context.isNestedPlace(directory) || (await this.#context.judge.covers(directory))) return;
    for (const name of namesIn(join(this.#context.worktree, directory)).toSorted())
      await this.#visit(`${directory}/${name}`);
  }

  #count(path: string, stats: Stats | null): void {
    this.files++;
    if (this.paths.length < MAX_NAMED) this.paths.push(path);
    if (stats === null) return;
    if (stats.nlink > 1) {
      const id = `${stats.dev}:${stats.ino}`;
      if (this.#weighed.has(id)) return;
      this.#weighed.add(id);
    }
    this.bytes += stats.blocks * 512;
  }
}

/** The clone's own checkout, beside a worktree: which of its files are another copy of the worktree's. */
class CloneCheckout {
  readonly #context: CopyContext;
  /** By directory, relative to both: whether it and all above it are real directories on both sides, and not one and the same. */
  readonly #pairs = new Map<string, boolean>();

  constructor(context: CopyContext) {
    this.#context = context;
  }

  async hasIdentical(path: string): Promise<boolean> {
    if (!isPlain(path) || isUndecodable(path) || isInWorktreesPlace(path)) return false;
    // A clone's `data -> .claude/worktrees/a1/data` would let the worktree's own file speak for itself.
    if (!this.#isPair(parentOf(path))) return false;
    const ours = join(this.#context.worktree, path);
    const theirs = join(this.#context.clone, path);
    const a = lookExactly(ours);
    const b = lookExactly(theirs);
    if (a === null || b === null) return false;
    if (a.isSymbolicLink()) {
      const text = readlinkSync(ours, "buffer");
      return (
        (b.isSymbolicLink() && text.equals(readlinkSync(theirs, "buffer"))) || this.#isWayToClone(text.toString(), path)
      );
    }
    if (!a.isFile() || !b.isFile() || a.size !== b.size) return false;
    return isSameFile(a, b) ? a.nlink > 1n : this.#haveSameContent(ours, theirs, a, b);
  }

  #isPair(directory: string): boolean {
    let pair = this.#pairs.get(directory);
    if (pair === undefined) {
      pair = (directory === "" || this.#isPair(parentOf(directory))) && this.#areTwoDirectories(directory);
      this.#pairs.set(directory, pair);
    }
    return pair;
  }

  #areTwoDirectories(directory: string): boolean {
    const b = lookExactly(join(this.#context.clone, directory));
    if (b === null || !b.isDirectory()) return false;
    const a = lookExactly(join(this.#context.worktree, directory));
    return a !== null && a.isDirectory() && !isSameFile(a, b);
  }

  /**
   * Whether the text of a link names the clone's own `path`, as an agent's harness links `node_modules` into its worktrees: on the host, in the
   * container, or by as many `..` as lead from a worktrees place to the clone (three for each level, wherever the worktree lies meanwhile).
   */
  #isWayToClone(text: string, path: string): boolean {
    const { clone } = this.#context;
    if (text === join(clone, path) || text === `/workspaces/${basename(clone)}/${path}`) return true;
    const up = /^(?:\.\.\/)+/.exec(text)?.[0] ?? "";
    const levels = up.length / "../".length - parentsOf(path).length;
    return text === up + path && levels > 0 && levels % 3 === 0;
  }

  async #haveSameContent(ours: string, theirs: string, a: BigIntStats, b: BigIntStats): Promise<boolean> {
    const x = openSame(ours, a);
    if (x === null) return false;
    try {
      const y = openSame(theirs, b);
      if (y === null) return false;
      try {
        return await this.#areEqual(x, y, Math.min(CHUNK, Number(a.size) + 1));
      } finally {
        closeSync(y);
      }
    } finally {
      closeSync(x);
    }
  }

  /** Synchronous within a chunk: most files are small, and there may be many (PERF, "Sizes"). */
  async #areEqual(x: number, y: number, chunk: number): Promise<boolean> {
    const left = Buffer.allocUnsafe(chunk);
    const right = Buffer.allocUnsafe(chunk);
    for (;;) {
      this.#context.signal.throwIfAborted();
      const n = fill(x, left);
      const m = fill(y, right);
      if (n !== m || !left.subarray(0, n).equals(right.subarray(0, m))) return false;
      if (n < chunk) return true;
      await setImmediate();
    }
  }
}

/** Opens the regular file that was looked at; null when it vanished or something else took its name meanwhile. */
function openSame(path: string, seen: BigIntStats): number | null {
  let file;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ELOOP" || code === "ENXIO") return null;
    throw error;
  }
  const stats = fstatSync(file, { bigint: true });
  if (stats.isFile() && isSameFile(stats, seen)) return file;
  closeSync(file);
  return null;
}

/** Reads until the buffer is full or the file ends, and returns how much was read. */
function fill(file: number, buffer: Buffer): number {
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(file, buffer, length, buffer.length - length, null);
    if (read === 0) break;
    length += read;
  }
  return length;
}

/** Exact numbers: an inode number above 2^53, as overlays give, is not to be taken for its neighbour. */
function lookExactly(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}

function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

/** Whether a path of the clone is one that may go with the worktrees. Case is put aside, as macOS does. */
function isInWorktreesPlace(path: string): boolean {
  return `${path}/`.toLowerCase().startsWith(`${WORKTREES_PLACE}/`);
}

/** Returns the directories above a relative path, the outermost first, without the worktree itself. */
function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let parent = parentOf(path); parent !== ""; parent = parentOf(parent)) parents.unshift(parent);
  return parents;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
