// A slot, in 32-bit words: inode (2 words, an integer), allocated bytes (2 words, a double), and these three. Free when nothing was seen.
const DEVICE = 4;
const LINKS = 5;
const SEEN = 6;
const WORDS = 8;

/**
 * Files with several links, by device and inode, and how many of their names were seen. One typed array with open addressing, because a package
 * store's worth of objects would make every spawn of this process slower (PERF, "git").
 */
export class LinkTable {
  #size = 0;
  #words = new Uint32Array(64 * WORDS);
  readonly #file = new Uint32Array(WORDS);
  readonly #fileInode = new BigUint64Array(this.#file.buffer, 0, 1);
  readonly #fileBytes = new Float64Array(this.#file.buffer, 8, 1);

  /** Counts one name of a file. An inode number that no double can hold is given as text. */
  see(device: number, inode: number | string, links: number, bytes: number): void {
    if (typeof inode === "string") {
      this.#fileInode[0] = BigInt(inode);
    } else {
      this.#file[0] = inode;
      this.#file[1] = inode / 2 ** 32;
    }
    this.#fileBytes[0] = bytes;
    this.#file[DEVICE] = device;
    this.#file[LINKS] = links;
    this.#file[SEEN] = 1;
    this.#add(this.#file, 0);
  }

  /** Adds what was seen in another place, or the part of it that is wanted. */
  add(other: LinkTable, isWanted: (links: number, seen: number) => boolean = () => true): void {
    for (let at = 0; at < other.#words.length; at += WORDS) {
      const seen = other.#words[at + SEEN] ?? 0;
      if (seen > 0 && isWanted(other.#words[at + LINKS] ?? 0, seen)) this.#add(other.#words, at);
    }
  }

  /** Returns the allocated bytes of the files all of whose names were seen. */
  completeBytes(): number {
    const bytes = new Float64Array(this.#words.buffer);
    let total = 0;
    for (let at = 0; at < this.#words.length; at += WORDS) {
      const seen = this.#words[at + SEEN] ?? 0;
      if (seen > 0 && seen >= (this.#words[at + LINKS] ?? 0)) total += bytes[at / 2 + 1] ?? 0;
    }
    return total;
  }

  /** Adds the slot that starts at `from`. */
  #add(file: Uint32Array, from: number): void {
    const words = this.#words;
    const at = this.#find(file, from);
    const seen = words[at + SEEN] ?? 0;
    for (let i = 0; i < WORDS; i++) words[at + i] = file[from + i] ?? 0;
    words[at + SEEN] = seen + (file[from + SEEN] ?? 0);
    if (seen === 0 && ++this.#size * WORDS * 4 > words.length * 3) this.#grow();
  }

  /** Returns where the same file's slot is, or the free one where it belongs. */
  #find(file: Uint32Array, from: number): number {
    const words = this.#words;
    const low = file[from] ?? 0;
    const high = file[from + 1] ?? 0;
    const hash = Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca77);
    let at = Math.imul(hash ^ (hash >>> 15), WORDS) & (words.length - 1);
    while (words[at + SEEN] !== 0) {
      if (words[at] === low && words[at + 1] === high && words[at + DEVICE] === file[from + DEVICE]) break;
      at = (at + WORDS) & (words.length - 1);
    }
    return at;
  }

  #grow(): void {
    const old = this.#words;
    const words = (this.#words = new Uint32Array(old.length * 4));
    for (let from = 0; from < old.length; from += WORDS) {
      if (old[from + SEEN] === 0) continue;
      const at = this.#find(old, from);
      for (let i = 0; i < WORDS; i++) words[at + i] = old[from + i] ?? 0;
    }
  }
}
