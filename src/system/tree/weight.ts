import { LinkTable } from "./link-table.ts";

/** What removing would give back, of parts of trees that do not overlap; parts can be added up (SPEC §5). */
export class Weight {
  #settled = 0;
  #unreadable = 0;
  #links = new LinkTable();

  /** Allocated bytes. A file with several links counts only when all of them were seen in what was added together. */
  get bytes(): number {
    return this.#settled + this.#links.completeBytes();
  }

  /** The part of the bytes that no link can change: directories, and files with one name. */
  get settledBytes(): number {
    return this.#settled;
  }

  /** How many directories could not be looked into. */
  get unreadable(): number {
    return this.#unreadable;
  }

  /** Whether the figure is only a floor, because something could not be looked into. */
  get isFloor(): boolean {
    return this.#unreadable > 0;
  }

  /** Adds a part that does not overlap with what is in here; `other` stays as it is. */
  add(other: Weight): void {
    this.#settled += other.#settled;
    this.#unreadable += other.#unreadable;
    this.#links.add(other.#links);
  }

  /** Counts something that has one name: a directory, or a file with one link. */
  count(bytes: number): void {
    this.#settled += bytes;
  }

  /** Counts one name of a file that has `links` of them. An inode number that no double can hold is given as text. */
  countLink(device: number, inode: number | string, links: number, bytes: number): void {
    this.#links.see(device, inode, links, bytes);
  }

  countUnreadable(): void {
    this.#unreadable++;
  }

  /** Lets go of the memory that is needed no more: files whose links were all seen become plain bytes. */
  settle(): void {
    this.#settled += this.#links.completeBytes();
    const open = new LinkTable();
    open.add(this.#links, (links, seen) => seen < links);
    this.#links = open;
  }
}
