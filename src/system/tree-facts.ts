import { accessSync, constants, lstatSync, readdirSync, type Stats } from "node:fs";
import { access, lstat, readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { execa } from "execa";
import { errnoOf } from "../errors.ts";
import type { StuckDirectory } from "../model/evidence.ts";
import type { Identity } from "../model/worktree.ts";
import type { Programs } from "./programs.ts";
import { isOwn } from "./user.ts";

/** What one walk of a directory tree tells. Paths are relative to the tree, with `/`, and sorted. */
export interface TreeFacts {
  readonly weight: Weight;
  /** Entries called `.git`, at any depth, except the tree's own. */
  readonly gitEntries: readonly string[];
  /** Directories that git would take for a bare repository, `.git` directories and what lies below them left out; "" is the tree itself. */
  readonly bareRepositories: readonly string[];
  /** Directories that hold something and cannot be emptied by this user; "" is the tree itself. */
  readonly stuck: readonly StuckDirectory[];
  /** Directories whose content could not be looked at; "" is the tree itself. */
  readonly unreadable: readonly string[];
}

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
}

/** Returns the fastest reader that this machine has: GNU find where there is one, else a walk by Node itself. */
export async function createTreeReader(programs: Programs): Promise<TreeReader> {
  for (const name of ["find", "gfind"]) {
    const program = programs.find(name);
    if (program !== null && (await isGnuFind(program, programs))) return new FindTreeReader(program, programs);
  }
  return createNodeTreeReader();
}

/** Returns the reader that needs no program: for macOS, whose find has no `-printf`, and busybox. */
export function createNodeTreeReader(): TreeReader {
  return new NodeTreeReader();
}

/** What removing would give back, of parts of trees that do not overlap; parts can be added up (SPEC §5). */
export class Weight {
  #settled = 0;
  #unreadable = 0;
  readonly #links = new Map<number, LinkTable>();

  /** Allocated bytes. A file with several links counts only when all of them were seen in what was added together. */
  get bytes(): number {
    let bytes = this.#settled;
    for (const table of this.#links.values()) bytes += table.completeBytes();
    return bytes;
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
    for (const [device, table] of other.#links) table.copyInto(this.#tableOf(device));
  }

  /** Counts something that has one name: a directory, or a file with one link. */
  count(bytes: number): void {
    this.#settled += bytes;
  }

  /** Counts one name of a file that has `links` of them. An inode number that no double can hold is given as text. */
  countLink(device: number, inode: number | string, links: number, bytes: number): void {
    this.#tableOf(device).see(inode, links, 1, bytes);
  }

  countUnreadable(): void {
    this.#unreadable++;
  }

  /** Lets go of the memory that is needed no more: files whose links were all seen become plain bytes. */
  settle(): void {
    for (const [device, table] of this.#links) {
      this.#settled += table.completeBytes();
      const open = new LinkTable();
      table.copyInto(open, (links, seen) => seen < links);
      if (open.isEmpty) this.#links.delete(device);
      else this.#links.set(device, open);
    }
  }

  #tableOf(device: number): LinkTable {
    let table = this.#links.get(device);
    if (table === undefined) {
      table = new LinkTable();
      this.#links.set(device, table);
    }
    return table;
  }
}

/**
 * Files with several links, by inode: open addressing over typed arrays, because a package store's worth of objects would make every spawn of
 * this process slower (PERF, "git"). A slot whose `seen` is 0 is free. Inode numbers above 2^53, which a double cannot hold, are kept as text.
 */
class LinkTable {
  #inodes = new Float64Array(16);
  #bytes = new Float64Array(16);
  #links = new Uint32Array(16);
  #seen = new Uint32Array(16);
  #size = 0;
  readonly #large = new Map<string, { links: number; seen: number; bytes: number }>();

  get isEmpty(): boolean {
    return this.#size === 0 && this.#large.size === 0;
  }

  see(inode: number | string, links: number, seen: number, bytes: number): void {
    if (typeof inode === "string") {
      this.#large.set(inode, { links, seen: (this.#large.get(inode)?.seen ?? 0) + seen, bytes });
      return;
    }
    const slot = this.#slotOf(inode);
    if (this.#seen[slot] === 0) {
      this.#inodes[slot] = inode;
      this.#size++;
    }
    this.#links[slot] = links;
    this.#bytes[slot] = bytes;
    this.#seen[slot] = (this.#seen[slot] ?? 0) + seen;
    if (this.#size * 4 > this.#inodes.length * 3) this.#grow();
  }

  completeBytes(): number {
    let total = 0;
    for (let slot = 0; slot < this.#seen.length; slot++) {
      const seen = this.#seen[slot] ?? 0;
      if (seen > 0 && seen >= (this.#links[slot] ?? 0)) total += this.#bytes[slot] ?? 0;
    }
    for (const { links, seen, bytes } of this.#large.values()) if (seen >= links) total += bytes;
    return total;
  }

  copyInto(target: LinkTable, isWanted: (links: number, seen: number) => boolean = () => true): void {
    for (let slot = 0; slot < this.#seen.length; slot++) {
      const seen = this.#seen[slot] ?? 0;
      const links = this.#links[slot] ?? 0;
      if (seen > 0 && isWanted(links, seen)) target.see(this.#inodes[slot] ?? 0, links, seen, this.#bytes[slot] ?? 0);
    }
    for (const [inode, { links, seen, bytes }] of this.#large) {
      if (isWanted(links, seen)) target.see(inode, links, seen, bytes);
    }
  }

  /** Returns the slot of an inode, or the free one where it belongs. */
  #slotOf(inode: number): number {
    const mask = this.#inodes.length - 1;
    let slot = hash(inode) & mask;
    while (this.#seen[slot] !== 0 && this.#inodes[slot] !== inode) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [inodes, bytes, links, seen] = [this.#inodes, this.#bytes, this.#links, this.#seen];
    const capacity = inodes.length * 2;
    this.#inodes = new Float64Array(capacity);
    this.#bytes = new Float64Array(capacity);
    this.#links = new Uint32Array(capacity);
    this.#seen = new Uint32Array(capacity);
    for (let old = 0; old < seen.length; old++) {
      if (seen[old] === 0) continue;
      const slot = this.#slotOf(inodes[old] ?? 0);
      this.#inodes[slot] = inodes[old] ?? 0;
      this.#bytes[slot] = bytes[old] ?? 0;
      this.#links[slot] = links[old] ?? 0;
      this.#seen[slot] = seen[old] ?? 0;
    }
  }
}

function hash(inode: number): number {
  const low = Math.imul(inode % 2 ** 32, 0x9e3779b1);
  const high = Math.imul(inode / 2 ** 32, 0x85ebca77);
  return (low ^ (low >>> 15) ^ high) >>> 0;
}

/** What `st_blocks` counts in, whatever the file system's own blocks are. */
const BLOCK = 512;

/** A path or name as the system gave it, one character a byte: an odd name is found again, and takes no copy to look into. */
type Bytes = string;

function rawPath(path: Bytes): Buffer {
  return Buffer.from(path, "latin1");
}

function bytesOf(text: string): Bytes {
  return Buffer.from(text).toString("latin1");
}

function textOf(path: Bytes): string {
  return rawPath(path).toString();
}

function join(directory: Bytes, name: Bytes): Bytes {
  return directory === "" || name === "" ? directory + name : `${directory}/${name}`;
}

function parentOf(path: Bytes): Bytes {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

/** What one walk gathers. What only looks like a find is judged at the end, one by one: there are few. */
class Gathering {
  readonly weight = new Weight();
  readonly #root: Bytes;
  readonly #gitEntries: Bytes[] = [];
  readonly #heads: Bytes[] = [];
  readonly #restricted: { readonly path: Bytes; readonly uid: number }[] = [];

  constructor(tree: string) {
    this.#root = bytesOf(tree);
  }

  sawGitEntry(path: Bytes): void {
    if (path !== "" && path !== ".git") this.#gitEntries.push(path);
  }

  /** Notes something called `HEAD` that is no directory. */
  sawHead(path: Bytes): void {
    if (path !== "" && !path.split("/").includes(".git")) this.#heads.push(path);
  }

  /** Notes a directory that this user may not read, enter or change as they like. */
  sawRestricted(path: Bytes, uid: number): void {
    this.#restricted.push({ path, uid });
  }

  async finish(): Promise<TreeFacts> {
    const bareRepositories: Bytes[] = [];
    for (const head of this.#heads) {
      if (await isBareRepository(join(this.#root, parentOf(head)))) bareRepositories.push(parentOf(head));
    }
    const stuck: StuckDirectory[] = [];
    const unreadable: Bytes[] = [];
    for (const { path, uid } of this.#restricted.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
      const judgement = await judgeRestricted(join(this.#root, path));
      if (judgement === "removable") continue;
      stuck.push({ path: textOf(path), owner: await userName(uid) });
      if (judgement === "unreadable") unreadable.push(path);
    }
    for (const _ of unreadable) this.weight.countUnreadable();
    this.weight.settle();
    return {
      weight: this.weight,
      gitEntries: this.#gitEntries.toSorted().map(textOf),
      bareRepositories: bareRepositories.toSorted().map(textOf),
      stuck,
      unreadable: unreadable.map(textOf),
    };
  }
}

/** Whether a directory that holds a `HEAD` also holds what else makes a repository. Links count, as they do for git. */
async function isBareRepository(directory: Bytes): Promise<boolean> {
  for (const name of ["objects", "refs"]) {
    try {
      const stats = await lstat(rawPath(join(directory, name)));
      if (!stats.isDirectory() && !stats.isSymbolicLink()) return false;
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return false;
      throw error;
    }
  }
  return true;
}

/** Whether a restricted directory keeps its content from being removed, or even from being looked at. */
async function judgeRestricted(directory: Bytes): Promise<"removable" | "stuck" | "unreadable"> {
  let names: Bytes[];
  try {
    names = await readdir(rawPath(directory), { encoding: "latin1" });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "removable";
    if (errnoOf(error) === "EACCES" || errnoOf(error) === "EPERM") return "unreadable";
    throw error;
  }
  // Nothing in it has to be removed, and it itself is an entry of the directory above.
  if (names.length === 0) return "removable";
  if (!(await hasAccess(directory, constants.X_OK))) return "unreadable";
  if (!(await hasAccess(directory, constants.W_OK))) return "stuck";
  // Somebody else's sticky directory: only its entries that belong to this user can be removed.
  for (const name of names) {
    const stats = lstatSync(rawPath(join(directory, name)), { throwIfNoEntry: false });
    if (stats !== undefined && !isOwn(stats)) return "stuck";
  }
  return "removable";
}

async function hasAccess(path: Bytes, mode: number): Promise<boolean> {
  return access(rawPath(path), mode).then(
    () => true,
    () => false,
  );
}

function userId(): number {
  return process.geteuid?.() ?? 0;
}

/** Returns the name of a user, or the number where it has none. Node knows only the name of its own. */
async function userName(uid: number): Promise<string> {
  const result = await execa("/usr/bin/id", ["-nu", String(uid)], {
    cwd: "/",
    env: { PATH: "", LC_ALL: "C" },
    extendEnv: false,
    stdin: "ignore",
    reject: false,
  });
  return (result.exitCode === 0 && result.stdout) || String(uid);
}

/** Returns what lies at the tree's own path. Throws unless it is a directory. */
async function lstatTree(tree: string): Promise<Stats> {
  const stats = await lstat(tree);
  if (!stats.isDirectory()) throw new Error(`${tree} is not a directory`);
  return stats;
}

/** Throws when another directory has taken the tree's path meanwhile: what was gathered is then no fact about it. */
async function assertSameTree(tree: string, before: Stats): Promise<void> {
  const after = await lstatTree(tree);
  if (after.dev !== before.dev || after.ino !== before.ino) throw new Error(`${tree} was replaced while it was read`);
}

async function isGnuFind(program: string, programs: Programs): Promise<boolean> {
  const { stdout } = await execa(program, ["--version"], { ...spawnOptions(programs), timeout: 10_000, reject: false });
  return typeof stdout === "string" && stdout.startsWith("find (GNU findutils)");
}

function spawnOptions(programs: Programs) {
  return { cwd: "/", env: { PATH: programs.path, LC_ALL: "C" }, extendEnv: false, stdin: "ignore" } as const;
}

/** One GNU find a tree, whose output is read as bytes: nearly as fast as `du`, in little memory (PERF, "Sizes"). */
class FindTreeReader implements TreeReader {
  readonly #program: string;
  readonly #programs: Programs;

  constructor(program: string, programs: Programs) {
    this.#program = program;
    this.#programs = programs;
  }

  async read(tree: string, options: TreeReadOptions = {}): Promise<TreeFacts> {
    const path = resolve(tree);
    const without = options.without ?? [];
    // An Identity holds such a number rounded, and `-inum` would look for another one.
    if (without.some(({ inode }) => !Number.isSafeInteger(inode))) return createNodeTreeReader().read(path, options);
    const before = await lstatTree(path);
    options.signal?.throwIfAborted();
    const gathering = new Gathering(path);
    const output = new FindOutput(gathering, before.dev);
    const inodes = without.filter(({ device }) => device === before.dev).map(({ inode }) => inode);
    await this.#run([path, ...expression(inodes)], output, options);
    if (output.directories === 0) throw new Error(`${path} was replaced while it was read`);
    await assertSameTree(path, before);
    return gathering.finish();
  }

  async #run(args: readonly string[], output: FindOutput, { signal, onBytes }: TreeReadOptions): Promise<void> {
    const find = execa(this.#program, args, {
      ...spawnOptions(this.#programs),
      encoding: "buffer",
      buffer: false,
      reject: false,
      ...(signal === undefined ? {} : { cancelSignal: signal }),
    });
    const errors = new FindErrors();
    find.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    for await (const chunk of find.stdout) {
      const bytes = output.push(chunk as Buffer);
      onBytes?.(bytes);
    }
    const { exitCode, shortMessage } = await find;
    signal?.throwIfAborted();
    const words = errors.finish();
    if (words !== "") throw new Error(words);
    // GNU find ends with 1 when something vanished before it was looked at.
    if (exitCode !== 0 && exitCode !== 1) throw new Error(shortMessage ?? `find ended with exit code ${exitCode}`);
    output.finish();
  }
}

/**
 * What find prints; the first byte tells the kind of a record:
 *
 *     <blocks>\n                                     a file with one link
 *     l<blocks> <links> <inode> <device>\n           one of several links
 *     d<blocks> <device>\n                           a directory
 *     r<uid>/<path>\0                                the directory before it is restricted
 *     g<path>\0                                      something called .git
 *     h<path>\0                                      something called HEAD that is no directory
 *
 * Directories are told apart first, so that find's optimizer does not ask the inode of every file.
 */
function expression(without: readonly number[]): string[] {
  const gitEntry = ["-name", ".git", "-printf", "g%P\\0"];
  const head = ["-name", "HEAD", "-printf", "h%P\\0"];
  const sticky = userId() === 0 ? [] : ["!", "(", "-perm", "-1000", "!", "-uid", String(userId()), ")"];
  const isFree = ["(", "-readable", "-writable", "-executable", ...sticky, ")"];
  // What cannot be read and entered is not tried: the record says so, not an error.
  const restricted = ["-printf", "r%U/%P\\0", "(", "-readable", "-executable", "-o", "-prune", ")"];
  const inodes = without.flatMap((inode) => ["-o", "-inum", String(inode)]).slice(1);
  const leftOut = without.length === 0 ? [] : ["(", ...inodes, ")", "-prune", "-o"];
  const weighed = [
    "-printf",
    "d%b %D\\n",
    "(",
    ...gitEntry,
    "-o",
    "-true",
    ")",
    "(",
    ...isFree,
    "-o",
    ...restricted,
    ")",
  ];
  const directory = ["-type", "d", "(", ...leftOut, ...weighed, ")"];
  const named = ["(", ...gitEntry, "-o", ...head, "-o", "-true", ")"];
  const file = [...named, "(", "-links", "1", "-printf", "%b\\n", "-o", "-printf", "l%b %n %i %D\\n", ")"];
  return ["-xdev", "(", ...directory, "-o", ...file, ")"];
}

const NEWLINE = 10;
const SPACE = 32;
const ZERO = 48;
const NINE = 57;
const DIRECTORY = 100;
const LINK = 108;
const NOT_UNDERSTOOD = "find gave an answer that was not understood";

/** Reads the records of `expression` as they come in, numbers without making text of them. */
class FindOutput {
  readonly #gathering: Gathering;
  readonly #device: number;
  /** A record that has not come in whole. */
  #rest: Buffer = Buffer.alloc(0);
  readonly #numbers = new Float64Array(4);
  #inode = "";
  #isForeign = false;
  #counted = 0;
  /** How many directories were read of; without one, the tree was none. */
  directories = 0;

  constructor(gathering: Gathering, device: number) {
    this.#gathering = gathering;
    this.#device = device;
  }

  /** Reads what came in, and returns how many bytes of disk it counted. */
  push(chunk: Buffer): number {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#counted = 0;
    let at = 0;
    while (at < bytes.length) {
      const next = this.#record(bytes, at);
      if (next < 0) break;
      at = next;
    }
    this.#rest = bytes.subarray(at);
    return this.#counted;
  }

  finish(): void {
    if (this.#rest.length > 0) throw new Error("find stopped in the middle of its answer");
  }

  /** Reads the record at `at` and returns where the next one starts, or -1 when it has not come in whole. */
  #record(bytes: Buffer, at: number): number {
    const kind = bytes[at] ?? 0;
    if (kind <= NINE) return this.#file(bytes, at);
    if (kind === LINK) return this.#link(bytes, at + 1);
    if (kind === DIRECTORY) return this.#directory(bytes, at + 1);
    return this.#path(bytes, at);
  }

  #file(bytes: Buffer, at: number): number {
    const next = this.#readNumbers(bytes, at, 1);
    if (next >= 0) this.#count(this.#number(0));
    return next;
  }

  #directory(bytes: Buffer, at: number): number {
    const next = this.#readNumbers(bytes, at, 2);
    if (next < 0) return next;
    this.directories++;
    // find prints a mount point, with the figures of what is mounted there, and does not enter it.
    this.#isForeign = this.#number(1) !== this.#device;
    if (!this.#isForeign) this.#count(this.#number(0));
    return next;
  }

  #link(bytes: Buffer, at: number): number {
    const next = this.#readNumbers(bytes, at, 4);
    if (next < 0) return next;
    const inode = Number.isSafeInteger(this.#number(2)) ? this.#number(2) : this.#inode;
    this.#gathering.weight.countLink(this.#number(3), inode, this.#number(1), this.#number(0) * BLOCK);
    return next;
  }

  #path(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(0, at);
    if (end < 0) return -1;
    const text = bytes.toString("latin1", at + 1, end);
    switch (String.fromCharCode(bytes[at] ?? 0)) {
      case "g":
        this.#gathering.sawGitEntry(text);
        break;
      case "h":
        this.#gathering.sawHead(text);
        break;
      case "r":
        if (!this.#isForeign) {
          this.#gathering.sawRestricted(text.slice(text.indexOf("/") + 1), Number.parseInt(text, 10));
        }
        break;
      default:
        throw new Error(NOT_UNDERSTOOD);
    }
    return end + 1;
  }

  /** Reads `count` numbers up to a newline into `#numbers`, and the third one as text too where no double holds it. */
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
      if (i === start || byte !== (index === count - 1 ? NEWLINE : SPACE)) {
        throw new Error(NOT_UNDERSTOOD);
      }
      this.#numbers[index] = value;
      if (index === 2 && !Number.isSafeInteger(value)) this.#inode = bytes.toString("latin1", start, i);
      if (++index === count) return i + 1;
      value = 0;
      start = i + 1;
    }
    return -1;
  }

  #number(index: number): number {
    return this.#numbers[index] ?? 0;
  }

  #count(blocks: number): void {
    this.#gathering.weight.count(blocks * BLOCK);
    this.#counted += blocks * BLOCK;
  }
}

/** What find complains about, except of what vanished meanwhile, which weighs nothing. Names in it are escaped, so that lines are lines. */
class FindErrors {
  #rest = "";
  readonly #words: string[] = [];

  push(chunk: Buffer): void {
    const lines = (this.#rest + chunk.toString("latin1")).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  /** Returns the first complaints, or "" when there were none. */
  finish(): string {
    this.#line(this.#rest);
    this.#rest = "";
    return this.#words.join("; ");
  }

  #line(line: string): void {
    if (line !== "" && !line.endsWith(": No such file or directory") && this.#words.length < 3) this.#words.push(line);
  }
}

/** After so many entries, other work gets a turn. */
const ENTRIES_A_TURN = 2000;

/** The same walk by synchronous calls, which cost a third of asynchronous ones (PERF, "Sizes"). */
class NodeTreeReader implements TreeReader {
  async read(tree: string, options: TreeReadOptions = {}): Promise<TreeFacts> {
    const path = resolve(tree);
    const before = await lstatTree(path);
    const walk = new NodeWalk(path, before, options.without ?? []);
    for (const counted of walk.turns()) {
      options.onBytes?.(counted);
      await nextTurn();
      options.signal?.throwIfAborted();
    }
    await assertSameTree(path, before);
    return walk.gathering.finish();
  }
}

class NodeWalk {
  readonly gathering: Gathering;
  readonly #root: Bytes;
  readonly #rootStats: Stats;
  readonly #without: readonly Identity[];
  readonly #directories: { readonly path: Bytes; readonly stats: Stats }[] = [];
  #counted = 0;

  constructor(tree: string, stats: Stats, without: readonly Identity[]) {
    this.gathering = new Gathering(tree);
    this.#root = bytesOf(tree);
    this.#rootStats = stats;
    this.#without = without;
  }

  /** Walks the tree, and yields now and then how many bytes of disk it counted since. */
  *turns(): Generator<number> {
    this.#sawDirectory("", this.#rootStats);
    let entries = 0;
    for (let directory = this.#directories.pop(); directory !== undefined; directory = this.#directories.pop()) {
      for (const name of this.#namesIn(directory)) {
        this.#sawEntry(join(directory.path, name), name);
        if (++entries % ENTRIES_A_TURN === 0) yield this.#takeCounted();
      }
    }
    yield this.#takeCounted();
  }

  #sawEntry(path: Bytes, name: Bytes): void {
    const stats = lstatSync(this.#rawPath(path), { throwIfNoEntry: false });
    if (stats === undefined || this.#isLeftOut(stats)) return;
    if (name === ".git") this.gathering.sawGitEntry(path);
    if (stats.isDirectory()) {
      this.#sawDirectory(path, stats);
      return;
    }
    if (name === "HEAD") this.gathering.sawHead(path);
    if (stats.nlink === 1) this.#count(stats.blocks);
    else this.#sawLink(path, stats);
  }

  #sawDirectory(path: Bytes, stats: Stats): void {
    if (stats.dev !== this.#rootStats.dev) return;
    this.#count(stats.blocks);
    const isFree = this.#mayAccess(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const isStickyOfAnother = (stats.mode & 0o1000) !== 0 && !isOwn(stats) && userId() !== 0;
    if (!isFree || isStickyOfAnother) this.gathering.sawRestricted(path, stats.uid);
    if (isFree || this.#mayAccess(path, constants.R_OK | constants.X_OK)) this.#directories.push({ path, stats });
  }

  #sawLink(path: Bytes, stats: Stats): void {
    let inode: number | string = stats.ino;
    if (!Number.isSafeInteger(inode)) {
      const exact = lstatSync(this.#rawPath(path), { bigint: true, throwIfNoEntry: false });
      if (exact === undefined) return;
      inode = String(exact.ino);
    }
    this.gathering.weight.countLink(stats.dev, inode, stats.nlink, stats.blocks * BLOCK);
  }

  /** Returns the names in a directory. Throws when a link has taken its place: the walk would leave the tree. */
  #namesIn({ path, stats }: { readonly path: Bytes; readonly stats: Stats }): Bytes[] {
    try {
      const names = readdirSync(this.#rawPath(path), { encoding: "latin1" });
      const after = lstatSync(this.#rawPath(path));
      if (after.ino !== stats.ino || after.dev !== stats.dev)
        throw new Error(`${textOf(path)} was replaced while it was read`);
      return names;
    } catch (error) {
      if (errnoOf(error) === "ENOENT" && path !== "") return [];
      throw error;
    }
  }

  #isLeftOut(stats: Stats): boolean {
    return (
      stats.isDirectory() && this.#without.some(({ device, inode }) => device === stats.dev && inode === stats.ino)
    );
  }

  #mayAccess(path: Bytes, mode: number): boolean {
    try {
      accessSync(this.#rawPath(path), mode);
      return true;
    } catch {
      return false;
    }
  }

  #rawPath(path: Bytes): Buffer {
    return rawPath(join(this.#root, path));
  }

  #count(blocks: number): void {
    this.gathering.weight.count(blocks * BLOCK);
    this.#counted += blocks * BLOCK;
  }

  #takeCounted(): number {
    const counted = this.#counted;
    this.#counted = 0;
    return counted;
  }
}
