import { readdirSync, readFileSync, readlinkSync, stat } from "node:fs";
import { platform } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { errnoOf } from "../errors.ts";
import type { Occupant } from "../model/evidence.ts";
import type { Identity } from "../model/worktree.ts";
import { runChild } from "./child.ts";
import { mapConcurrently } from "./concurrency.ts";
import type { Programs } from "./programs.ts";

/** The processes of this machine and where they are, as of one moment. */
export interface OccupantSurvey {
  /** Returns the processes that are inside a directory: with their working directory, their root, their program, or an open file. */
  inside(identity: Identity, directory: string): readonly Occupant[];
  /** A sentence about what could not be looked at, or null. */
  readonly unseen: string | null;
}

export interface SurveyOptions {
  readonly programs: Programs;
  readonly reposDir: string;
  readonly procDir?: string;
}

/** Looks once at all processes of this machine that this user may look at. Throws when none can be. */
export async function surveyOccupants({ programs, reposDir, procDir }: SurveyOptions): Promise<OccupantSurvey> {
  if (platform() === "darwin" && procDir === undefined) return surveyByLsof(programs);
  return surveyProc(procDir ?? "/proc", reposDir);
}

/** How many processes are looked at at a time: with 4 it takes half as long again. */
const AT_A_TIME = 64;

/** No path is deeper than this: PATH_MAX, and two characters a directory. */
const MAX_DEPTH = 2048;

/** How many unseen processes are named. */
const MAX_NAMED = 3;

/** Linux's PF_KTHREAD: a thread of the kernel, which is in no directory. */
const KERNEL_THREAD = 0x0020_0000;

const statLater = promisify(stat);

/** Where processes were seen: in directories by device and inode, and at paths. */
class Sightings {
  readonly #byDirectory = new Map<string, Set<number>>();
  readonly #byPath = new Map<string, Set<number>>();
  readonly #names = new Map<number, string>();

  inDirectories(pid: number, keys: readonly string[]): void {
    for (const key of keys) addTo(this.#byDirectory, key, pid);
  }

  atPath(pid: number, path: string): void {
    addTo(this.#byPath, path, pid);
  }

  called(pid: number, name: string): void {
    this.#names.set(pid, printable(name));
  }

  inside({ device, inode }: Identity, directory: string): Occupant[] {
    const pids = new Set(this.#byDirectory.get(keyOf(device, inode)));
    for (const [path, there] of this.#byPath) {
      if (path === directory || path.startsWith(`${directory}/`)) for (const pid of there) pids.add(pid);
    }
    return [...pids].toSorted((a, b) => a - b).map((pid) => ({ pid, name: this.#names.get(pid) ?? "?" }));
  }
}

/** What the look at every process of one survey shares. */
interface ProcSurvey {
  readonly reposDir: string;
  readonly sightings: Sightings;
  readonly ancestry: Ancestry;
}

async function surveyProc(procDir: string, reposDir: string): Promise<OccupantSurvey> {
  const pids = readdirSync(procDir).filter((name) => /^\d+$/.test(name));
  if (pids.length === 0) throw new Error(`${procDir} lists no process`);
  const sightings = new Sightings();
  const survey: ProcSurvey = { reposDir, sightings, ancestry: new Ancestry() };
  const refused = await mapConcurrently(pids, AT_A_TIME, (pid) => surveyProcess(join(procDir, pid), survey));
  const sentences = [unseenSentence(refused.filter((words) => words !== null))];
  // Process 1 is always there; where it is not listed, /proc shows this user no process but their own.
  if (!pids.includes("1"))
    sentences.push("Processes of other users are hidden from this user and could not be looked at.");
  return {
    inside: (identity, directory) => sightings.inside(identity, directory),
    unseen: sentences.filter((sentence) => sentence !== null).join(" ") || null,
  };
}

/** Notes where one process is. Returns what to call it when it could not be looked at, or null. */
async function surveyProcess(proc: string, survey: ProcSurvey): Promise<string | null> {
  const { reposDir, sightings, ancestry } = survey;
  const pid = Number(basename(proc));
  let isRefused = false;
  for (const look of [
    async () => sightings.inDirectories(pid, await ancestry.of(proc, "cwd")),
    async () => sightings.inDirectories(pid, await ancestry.of(proc, "root")),
    async () => readPaths(proc, reposDir, (path) => sightings.atPath(pid, path)),
  ]) {
    try {
      await look();
    } catch (error) {
      // It ended meanwhile, or is a zombie, or a thread of the kernel: then it has none of these.
      if (errnoOf(error) !== "ENOENT" && errnoOf(error) !== "ESRCH") isRefused = true;
    }
  }
  const name = readName(proc);
  sightings.called(pid, name ?? "?");
  return isRefused && name !== null && holdsDirectories(proc) ? `${printable(name)} (${pid})` : null;
}

/**
 * What lies above a directory, itself included, as keys. It climbs by `..` and tells directories by device and inode, because a process in a container is
 * in the same directory by another path, which means nothing here. The calls are asynchronous: a file system that is gone makes them wait
 * for ever, and then the time limit has to be able to pass.
 */
class Ancestry {
  /** Most processes are in few places: the same directory, by the same path, in the same mount namespace, has the same above it. */
  readonly #known = new Map<string, readonly string[]>();

  /** Returns the keys of the directory that a process's `link` leads to (`cwd`, `root`) and of all above it. */
  async of(proc: string, link: string): Promise<readonly string[]> {
    const start = `${proc}/${link}`;
    const { dev, ino } = await statLater(start);
    const place = `${readlinkSync(`${proc}/ns/mnt`)} ${keyOf(dev, ino)} ${readlinkSync(start)}`;
    const known = this.#known.get(place) ?? (await climb(start));
    this.#known.set(place, known);
    return known;
  }
}

async function climb(start: string): Promise<string[]> {
  const keys: string[] = [];
  let path = start;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const { dev, ino } = await statLater(path);
    const key = keyOf(dev, ino);
    if (key === keys.at(-1)) break;
    keys.push(key);
    path += "/..";
  }
  return keys;
}

/** Calls `at` with the paths of a process's program and open files that lie below repos_dir. These links are text: reading them waits for nothing. */
function readPaths(proc: string, reposDir: string, at: (path: string) => void): void {
  const descriptors = readdirSync(`${proc}/fd`).map((name) => `fd/${name}`);
  for (const link of ["exe", ...descriptors]) {
    const path = readlinkOrNull(`${proc}/${link}`);
    if (path !== null && path.startsWith(`${reposDir}/`)) at(path.replace(/ \(deleted\)$/, ""));
  }
}

function readlinkOrNull(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** Returns the process's name, or null when there is no such process any more. */
function readName(proc: string): string | null {
  try {
    return readFileSync(`${proc}/comm`, "utf8").replace(/\n$/, "");
  } catch (error) {
    return errnoOf(error) === "ENOENT" || errnoOf(error) === "ESRCH" ? null : "?";
  }
}

/** Whether a process is one that can be in a directory: no zombie and no thread of the kernel. What cannot be told counts as one. */
function holdsDirectories(proc: string): boolean {
  try {
    const text = readFileSync(`${proc}/stat`, "latin1");
    // The name in parentheses may hold anything; then come state, five numbers, and the flags.
    const [state, , , , , , flags] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return state !== "Z" && state !== "X" && (Number(flags) & KERNEL_THREAD) === 0;
  } catch (error) {
    return errnoOf(error) !== "ENOENT" && errnoOf(error) !== "ESRCH";
  }
}

function unseenSentence(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  const what = names.length === 1 ? "1 process" : `${names.length} processes`;
  const more = names.length - MAX_NAMED;
  return `${what} could not be looked at: ${names.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
}

/** Looks at processes where there is no /proc. It knows working directories alone, by their paths. */
export async function surveyByLsof(programs: Programs): Promise<OccupantSurvey> {
  const lsof = programs.find("lsof");
  if (lsof === null) {
    return { inside: () => [], unseen: "Processes could not be looked at: no absolute entry of PATH has `lsof`." };
  }
  // It ends with 1 as soon as there is anything that it may not look at.
  const asked = ["-w", "-n", "-P", "-F", "pcn", "-d", "cwd"];
  const { stdout, words, failure } = await runChild(lsof, asked, { env: programs.env });
  const sightings = parseLsof(stdout.toString());
  if (sightings === null) throw new Error(`lsof listed no process: ${words || (failure ?? "it printed nothing")}`);
  const isRoot = process.geteuid?.() === 0;
  return {
    inside: (identity, directory) => sightings.inside(identity, directory),
    unseen: isRoot ? null : "Processes of other users could not be looked at.",
  };
}

/** Reads `lsof -F pcn`: a line a field, told by its first character. Returns null when it tells of no process. */
function parseLsof(text: string): Sightings | null {
  const sightings = new Sightings();
  let pid: number | null = null;
  for (const line of text.split("\n")) {
    const value = line.slice(1);
    if (line.startsWith("p")) pid = Number(value);
    else if (line.startsWith("c") && pid !== null) sightings.called(pid, value);
    else if (line.startsWith("n") && pid !== null) sightings.atPath(pid, value);
  }
  return pid === null ? null : sightings;
}

function keyOf(device: number, inode: number): string {
  return `${device}:${inode}`;
}

function addTo(map: Map<string, Set<number>>, key: string, pid: number): void {
  const pids = map.get(key);
  if (pids === undefined) map.set(key, new Set([pid]));
  else pids.add(pid);
}

/** A process gives itself its name: nothing in it may steer a terminal. */
function printable(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}]/gu, "?");
}
