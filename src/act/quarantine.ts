import { constants } from "node:fs";
import { mkdir, open, readdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import * as t from "typanion";
import { errnoOf, wordsOf } from "../errors.ts";
import type { Clone } from "../model/clone.ts";
import { isSame, type Identity } from "../model/worktree.ts";
import { QUARANTINE } from "../scan/clones.ts";
import { withAnchor } from "../system/anchor.ts";
import { lockFile, tryLockFile, type HeldLock } from "../system/flock.ts";
import type { Programs } from "../system/programs.ts";
import { lstatOrNull, readSmallFile } from "../system/small-file.ts";
import { isOwn } from "../system/user.ts";

// How a removal root leaves its clone (SPEC §6.4, §6.7). Each state is a name on disk, each step one atomic rename:
//
//   <repository dir>/.dl-quarantine/<run>/owner          held with flock(2) by the run for as long as it lives
//   <repository dir>/.dl-quarantine/<run>/<n>.moving/    record.json, written and synced before anything moves
//                                            tree        1. the worktree's directory
//                                            admin/<id>  2. the admin directories of all that is in it
//   <repository dir>/.dl-quarantine/<run>/<n>.verified/  3. verified there: nothing that exists nowhere else is in it
//
// `moving` is undone, `verified` is finished: by the run itself, or by the next acting run once its owner is gone. Directory first, then
// registration: between the two, the state is what any run reads as a registration without a directory. All but the deletion of what is
// verified happens under the repository's lock.

/** What is written down before anything moves: enough to move it back. */
const isMoveRecord = t.isObject({
  version: t.isLiteral(1),
  /** The clone's directory name in the repository's directory. */
  workspace: t.isString(),
  place: t.isString(),
  /** Names of the admin directories that go with it. */
  ids: t.isArray(t.isString()),
});
type MoveRecord = t.InferType<typeof isMoveRecord>;

/** A removal root in quarantine. */
export interface Quarantined {
  readonly clone: Clone;
  readonly place: string;
  /** `<n>.moving`. */
  readonly entry: string;
  /** Where the worktree's bytes are now. */
  readonly tree: string;
  /** Where the admin directories are now. */
  readonly adminRoot: string;
}

/** The quarantine of one repository, for one run. */
export class Quarantine {
  readonly #run: string;
  readonly #owner: HeldLock;
  #made = 0;

  private constructor(run: string, owner: HeldLock) {
    this.#run = run;
    this.#owner = owner;
  }

  /** Makes this run's part of the quarantine. Throws when the quarantine is a link or belongs to somebody else. Under the lock. */
  static async open(
    repositoryDir: string,
    runId: string,
    programs: Programs,
    signal: AbortSignal,
  ): Promise<Quarantine> {
    const root = join(repositoryDir, QUARANTINE);
    await makeDirectory(root);
    await requireOwnDirectory(root);
    const run = join(root, runId);
    await makeDirectory(run);
    return new Quarantine(run, await lockFile(join(run, "owner"), programs, { signal, onWait: () => {} }));
  }

  /**
   * Moves a worktree and the admin directories of all that is in it out of the clone. Throws when a step is not possible, with
   * everything back in its place; the words say where the bytes are should even that fail.
   */
  async take(clone: Clone, place: string, identity: Identity, ids: readonly string[]): Promise<Quarantined> {
    const entry = join(this.#run, `${this.#made++}.moving`);
    const taken: Quarantined = { clone, place, entry, tree: join(entry, "tree"), adminRoot: join(entry, "admin") };
    await makeEntry(entry, { version: 1, workspace: basename(clone.path), place, ids: [...ids] });
    try {
      await withAnchor(clone.path, dirname(place), (anchor) => rename(join(anchor, basename(place)), taken.tree));
      const moved = await lstatOrNull(taken.tree);
      if (moved === null || !moved.isDirectory() || !isSame({ device: moved.dev, inode: moved.ino }, identity)) {
        throw new Error("what stood at its place was not the directory that was checked");
      }
      for (const id of ids)
        await withAnchor(clone.gitDir, "worktrees", (anchor) => rename(join(anchor, id), join(taken.adminRoot, id)));
    } catch (error) {
      await putBack(clone, taken);
      throw error;
    }
    return taken;
  }

  /** Marks what was verified: from here on, it is only ever deleted. Returns the path to delete. */
  async markVerified(taken: Quarantined): Promise<string> {
    const verified = taken.entry.replace(/\.moving$/, ".verified");
    await rename(taken.entry, verified);
    return verified;
  }

  /** Moves the admin directory of a registration without a directory out of the clone, to be deleted. Returns the path to delete. */
  async takeRegistration(clone: Clone, id: string): Promise<string> {
    const entry = join(this.#run, `${this.#made++}.moving`);
    await makeEntry(entry, { version: 1, workspace: basename(clone.path), place: "", ids: [id] });
    try {
      await withAnchor(clone.gitDir, "worktrees", (anchor) => rename(join(anchor, id), join(entry, "admin", id)));
    } catch (error) {
      await rm(entry, { recursive: true });
      throw error;
    }
    const verified = entry.replace(/\.moving$/, ".verified");
    await rename(entry, verified);
    return verified;
  }

  /** Takes the run's empty directories away. What could not be deleted or put back stays for the next run. */
  async close(): Promise<void> {
    await this.#owner.release();
    await removeRun(this.#run);
  }
}

/** Moves everything back to where it came from. Throws, and says where the bytes are, when its place is taken or gone. */
export async function putBack(
  clone: Pick<Clone, "path" | "gitDir">,
  taken: Pick<Quarantined, "place" | "entry" | "tree" | "adminRoot">,
): Promise<void> {
  try {
    for (const id of await readdir(taken.adminRoot)) {
      await withAnchor(clone.gitDir, "", async (anchor) => {
        await makeDirectory(join(anchor, "worktrees"));
      });
      await withAnchor(clone.gitDir, "worktrees", (anchor) =>
        moveToFreePlace(join(taken.adminRoot, id), join(anchor, id)),
      );
    }
    if ((await lstatOrNull(taken.tree)) !== null) {
      await withAnchor(clone.path, dirname(taken.place), (anchor) =>
        moveToFreePlace(taken.tree, join(anchor, basename(taken.place))),
      );
    }
    await rm(taken.entry, { recursive: true });
  } catch (error) {
    throw new Error(
      `${taken.place} could not be moved back to ${clone.path}: ${wordsOf(error)}. Nothing of it is lost: it lies in ${taken.entry}`,
      {
        cause: error,
      },
    );
  }
}

/** What an earlier run had verified. */
export interface RecoveredRun {
  readonly entries: readonly string[];
  /** Lets go of the run, and takes its directory away where nothing is left in it. */
  readonly done: () => Promise<void>;
}

/** What recovery found and did in one repository. */
export interface Recovered {
  readonly putBack: readonly string[];
  /** Runs whose verified entries are to be deleted: each is held against other runs until `done`. */
  readonly toDelete: readonly RecoveredRun[];
  readonly errors: readonly string[];
}

/**
 * Finishes or undoes what interrupted runs left in the quarantine of a repository: verified is returned for deletion, moving is put back. What a
 * live run holds is left to it. Under the lock.
 */
export async function recover(repositoryDir: string, programs: Programs): Promise<Recovered> {
  const root = join(repositoryDir, QUARANTINE);
  const found = { putBack: [] as string[], toDelete: [] as RecoveredRun[], errors: [] as string[] };
  try {
    if ((await lstatOrNull(root)) === null) return found;
    await requireOwnDirectory(root);
    for (const run of await readdir(root)) await recoverRun(repositoryDir, join(root, run), programs, found);
    await rmdirIfEmpty(root);
  } catch (error) {
    found.errors.push(`${root}: ${wordsOf(error)}`);
  }
  return found;
}

async function recoverRun(
  repositoryDir: string,
  run: string,
  programs: Programs,
  found: { putBack: string[]; toDelete: RecoveredRun[]; errors: string[] },
): Promise<void> {
  if ((await lstatOrNull(run))?.isDirectory() !== true)
    throw new Error(`${run} is no directory of dl's: look at it and take it away`);
  const owner = await tryLockFile(join(run, "owner"), programs);
  if (owner === null) return;
  const entries: string[] = [];
  const done = async (): Promise<void> => {
    await owner.release();
    await removeRun(run);
  };
  try {
    for (const name of await readdir(run)) {
      const entry = join(run, name);
      if (/^\d+\.verified$/.test(name)) entries.push(entry);
      else if (/^\d+\.moving$/.test(name)) {
        try {
          const place = await undo(repositoryDir, entry);
          if (place !== null) found.putBack.push(place);
        } catch (error) {
          found.errors.push(wordsOf(error));
        }
      } else if (name !== "owner") found.errors.push(`${entry} is nothing that dl made: look at it and take it away`);
    }
  } finally {
    if (entries.length > 0) found.toDelete.push({ entries, done });
    else await done();
  }
}

/** Returns the path that was put back, or null when nothing had moved yet. */
async function undo(repositoryDir: string, entry: string): Promise<string | null> {
  const tree = join(entry, "tree");
  const adminRoot = join(entry, "admin");
  const hasMoved =
    (await lstatOrNull(tree)) !== null ||
    ((await lstatOrNull(adminRoot)) !== null && (await readdir(adminRoot)).length > 0);
  if (!hasMoved) {
    await rm(entry, { recursive: true });
    return null;
  }
  const record = await readRecord(entry);
  const path = join(repositoryDir, record.workspace);
  await putBack({ path, gitDir: join(path, ".git") }, { place: record.place, entry, tree, adminRoot });
  return join(path, record.place);
}

/** Removes the directories of a run, and the quarantine, once nothing is left in them. */
async function removeRun(run: string): Promise<void> {
  const left = await readdir(run).catch(() => []);
  if (left.some((name) => name !== "owner")) return;
  await rm(join(run, "owner"), { force: true });
  await rmdirIfEmpty(run);
  await rmdirIfEmpty(dirname(run));
}

async function rmdirIfEmpty(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes(errnoOf(error) ?? "")) throw error;
  }
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

async function requireOwnDirectory(path: string): Promise<void> {
  const stats = await lstatOrNull(path);
  if (stats?.isDirectory() !== true) throw new Error(`${path} is a link or no directory: dl does not use it`);
  if (!isOwn(stats)) throw new Error(`${path} belongs to another user: dl does not use it`);
}

/** Renames a directory to a place where nothing stands: a rename would replace an empty directory without a word. */
async function moveToFreePlace(from: string, to: string): Promise<void> {
  if ((await lstatOrNull(to)) !== null) throw new Error(`its place is taken`);
  await rename(from, to);
}

/** Makes an entry that is ready to be moved into; nothing is left of it when that fails, as it does on a full disk. */
async function makeEntry(entry: string, record: MoveRecord): Promise<void> {
  try {
    await mkdir(join(entry, "admin"), { recursive: true });
    await writeRecord(entry, record);
  } catch (error) {
    await rm(entry, { recursive: true, force: true });
    throw error;
  }
}

async function writeRecord(entry: string, record: MoveRecord): Promise<void> {
  const file = await open(join(entry, "record.json"), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await file.writeFile(`${JSON.stringify(record)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readRecord(entry: string): Promise<MoveRecord> {
  const bytes = await readSmallFile(join(entry, "record.json"), 1024 * 1024);
  const record: unknown = JSON.parse(bytes?.toString("utf8") ?? "null");
  if (!isMoveRecord(record)) throw new Error(`${entry}/record.json was not written by this version of dl`);
  return record;
}
