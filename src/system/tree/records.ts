import type { Gathering } from "./gathering.ts";

/** What a walk is asked. */
export interface Asked {
  /** Inode numbers, on the tree's device, of directories that are not entered and of which nothing is told. */
  readonly without: readonly number[];
  /** Whether records of `.git`, of `HEAD` and of directories that can be looked into may be left out: they cost a seventh. */
  readonly weightOnly: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Walks the tree at an absolute path, and tells of it in records. */
export type Walk = (tree: string, asked: Asked) => AsyncIterable<Buffer>;

/** What `st_blocks` counts in, whatever the file system's own blocks are. */
const BLOCK = 512;

const [NEWLINE, SPACE, ZERO, NINE] = [10, 32, 48, 57];
const [DIRECTORY, LINK] = [100, 108];
const NOT_UNDERSTOOD = "the walk gave an answer that was not understood";

/**
 * Reads what a walk tells, as it comes in, numbers without making text of them. The first byte tells the kind of a record:
 *
 *     <blocks>\n                                     a file with one link
 *     l<blocks> <links> <inode> <device>\n           one of several links
 *     d<blocks> <device>\n                           a directory
 *     r<uid>/<path>\0                                the directory before it is restricted
 *     g<path>\0                                      something called .git
 *     h<path>\0                                      something called HEAD that is no directory
 */
export class RecordReader {
  readonly #gathering: Gathering;
  readonly #device: number;
  /** A record that has not come in whole. */
  #rest: Buffer = Buffer.alloc(0);
  readonly #numbers = new Float64Array(4);
  /** The third number as text, where no double holds it. */
  #inode = "";
  #isForeign = false;
  /** Whether there was a directory; without one, the tree was none. */
  sawDirectory = false;

  constructor(gathering: Gathering, device: number) {
    this.#gathering = gathering;
    this.#device = device;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = this.#plainFiles(bytes, 0);
    for (let next = this.#record(bytes, at); next > 0; next = this.#record(bytes, at))
      at = this.#plainFiles(bytes, next);
    this.#rest = bytes.subarray(at);
  }

  finish(): void {
    if (this.#rest.length > 0) throw new Error("the walk stopped in the middle of its answer");
  }

  /** Reads on through records of files with one link, which most are, and returns where another kind starts, or one that has not come in whole. */
  #plainFiles(bytes: Buffer, start: number): number {
    let next = start;
    let total = 0;
    let blocks = 0;
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (byte >= ZERO && byte <= NINE) {
        blocks = blocks * 10 + (byte - ZERO);
      } else if (byte === NEWLINE && at > next) {
        total += blocks;
        blocks = 0;
        next = at + 1;
      } else {
        break;
      }
    }
    this.#gathering.weight.count(total * BLOCK);
    return next;
  }

  /** Reads the record at `at` and returns where the next one starts, or 0 when it has not come in whole. */
  #record(bytes: Buffer, at: number): number {
    const kind = bytes[at] ?? 0;
    if (kind > NINE && kind !== LINK && kind !== DIRECTORY) return this.#path(bytes, at);
    const count = kind === LINK ? 4 : kind === DIRECTORY ? 2 : 1;
    const next = this.#readNumbers(bytes, kind > NINE ? at + 1 : at, count);
    if (next > 0) this.#sawNumbers(kind);
    return next;
  }

  #sawNumbers(kind: number): void {
    const { weight } = this.#gathering;
    const bytes = this.#number(0) * BLOCK;
    if (kind === LINK) {
      const inode = Number.isSafeInteger(this.#number(2)) ? this.#number(2) : this.#inode;
      weight.countLink(this.#number(3), inode, this.#number(1), bytes);
      return;
    }
    if (kind === DIRECTORY) {
      this.sawDirectory = true;
      // A mount point comes with the figures of what is mounted there, and is not entered.
      this.#isForeign = this.#number(1) !== this.#device;
      if (this.#isForeign) return;
    }
    weight.count(bytes);
  }

  #path(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(0, at);
    if (end < 0) return 0;
    const kind = bytes.toString("latin1", at, at + 1);
    const text = bytes.toString("latin1", at + 1, end);
    if (kind === "g") this.#gathering.sawGitEntry(text);
    else if (kind === "h") this.#gathering.sawHead(text);
    else if (kind === "r") this.#restricted(text);
    else throw new Error(NOT_UNDERSTOOD);
    return end + 1;
  }

  #restricted(text: string): void {
    if (this.#isForeign) return;
    this.#gathering.sawRestricted(text.slice(text.indexOf("/") + 1), Number.parseInt(text, 10));
  }

  /** Reads `count` numbers up to a newline into `#numbers`, and returns where the next record starts, or 0. */
  #readNumbers(bytes: Buffer, at: number, count: number): number {
    let value = 0;
    let index = 0;
    let start = at;
    for (let i = at; i < bytes.length; i++) {
      const byte = bytes[i] ?? 0;
      if (byte >= ZERO && byte <= NINE) {
        value = value * 10 + (byte - ZERO);
        continue;
      }
      if (i === start || byte !== (index === count - 1 ? NEWLINE : SPACE)) throw new Error(NOT_UNDERSTOOD);
      this.#numbers[index] = value;
      if (index === 2 && !Number.isSafeInteger(value)) this.#inode = bytes.toString("latin1", start, i);
      if (++index === count) return i + 1;
      value = 0;
      start = i + 1;
    }
    return 0;
  }

  #number(index: number): number {
    return this.#numbers[index] ?? 0;
  }
}
