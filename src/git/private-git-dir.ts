import { closeSync, futimesSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { platform } from "node:os";
import { join } from "node:path";
import { errnoOf } from "../errors.ts";
import { openRegularFile, readStart } from "../system/small-file.ts";
import { temporaryWords, type TemporaryDirectory } from "../system/temporary.ts";

/** What a private git directory is made from. */
export interface PrivateGitDirSource {
  /** The commit that its HEAD is detached at; null for a HEAD that is not born yet. */
  readonly commit: string | null;
  /** Object directories that it borrows from, `<git dir>/objects` of a clone or a bare. */
  readonly objects: readonly string[];
  /** The admin directory whose index is copied; null starts without an index. */
  readonly indexOf: string | null;
  readonly sha256: boolean;
}

/**
 * The header of the extension that marks a sparse index (Documentation/technical/index-format). To expand one, every git writes its trees again and so
 * freshens the times of the objects that it borrows; a dry run changes nothing below repos_dir (SPEC §6.8).
 */
const SPARSE_INDEX = Buffer.from("sdir\0\0\0\0", "latin1");
const MAX_INDEX = 1024 * 1024 * 1024;
/** A larger index is not held in memory. */
const PIECE = 8 * 1024 * 1024;
const SHARED_INDEX = /^sharedindex\.(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const MAX_SHARED_INDEXES = 8;

/**
 * A git directory of our own for questions about a working tree (GIT-FACTS 5.3): no setting, hook, filter, exclude file or attribute file of
 * the clone is in force in it, and nothing is written to the clone. Its index is a copy, so that hiding bits can be cleared in it.
 */
export class PrivateGitDir {
  readonly path: string;
  readonly sha256: boolean;
  #index: Buffer | null;

  private constructor(path: string, sha256: boolean, index: Buffer | null) {
    this.path = path;
    this.sha256 = sha256;
    this.#index = index;
  }

  /** Throws when an index is not a regular file or cannot be copied, or when the temporary directory is full. */
  static async create(temporary: TemporaryDirectory, source: PrivateGitDirSource): Promise<PrivateGitDir> {
    try {
      const path = await temporary.make();
      mkdirSync(join(path, "objects", "info"), { recursive: true });
      mkdirSync(join(path, "info"));
      mkdirSync(join(path, "refs"));
      writeFileSync(join(path, "HEAD"), source.commit === null ? "ref: refs/heads/unborn\n" : `${source.commit}\n`);
      writeFileSync(join(path, "config"), configuration(source.sha256));
      writeFileSync(
        join(path, "objects", "info", "alternates"),
        source.objects.map((directory) => `${quote(directory)}\n`).join(""),
      );
      const index = source.indexOf === null ? null : await copyIndex(source.indexOf, path);
      return new PrivateGitDir(path, source.sha256, index);
    } catch (error) {
      if (errnoOf(error) === "ENOSPC" || errnoOf(error) === "EDQUOT")
        throw new Error(temporaryWords(error), { cause: error });
      throw error;
    }
  }

  /** Returns the bytes of its index as it is now, or null when it has none or one that is too large to be held in memory. */
  async readIndex(): Promise<Buffer | null> {
    const copied = this.#index;
    // Whoever asks may have it changed next.
    this.#index = null;
    const bytes = copied ?? (await readStart(join(this.path, "index"), PIECE));
    return bytes !== null && bytes.length < PIECE ? bytes : null;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

function configuration(sha256: boolean): string {
  const insensitive = platform() === "darwin";
  return [
    "[core]",
    `\trepositoryformatversion = ${sha256 ? 1 : 0}`,
    "\tbare = false",
    "\tfilemode = true",
    "\tsymlinks = true",
    "\ttrustctime = true",
    "\tcheckStat = default",
    `\tignorecase = ${insensitive}`,
    `\tprecomposeunicode = ${insensitive}`,
    // Without it git misreads the index of a sha256 repository and exits 0.
    ...(sha256 ? ["[extensions]", "\tobjectFormat = sha256"] : []),
    "",
  ].join("\n");
}

/** Quotes a path as git's alternates file wants one that may hold anything: C style. */
function quote(path: string): string {
  return `"${path.replace(/["\\]/g, "\\$&").replace(/\n/g, "\\n")}"`;
}

/** Returns what was copied, unless it is too large to be held in memory. */
async function copyIndex(adminDirectory: string, to: string): Promise<Buffer | null> {
  const index = await copyRegularFile(join(adminDirectory, "index"), join(to, "index"));
  const shared = (await readdir(adminDirectory)).filter((name) => SHARED_INDEX.test(name));
  if (shared.length > MAX_SHARED_INDEXES) throw new Error(`${adminDirectory} holds ${shared.length} shared indexes`);
  for (const name of shared) await copyRegularFile(join(adminDirectory, name), join(to, name));
  return index;
}

/**
 * Copies a file without following a link or waiting on a FIFO, and returns its bytes when they fit in one piece. A file that is not there is not
 * copied. The copy has the original's mtime, in whole seconds: git reads again what was written in the second of the index's own mtime
 * (Documentation/technical/racy-git), and a newer copy would hide an edit of the same size.
 */
async function copyRegularFile(from: string, to: string): Promise<Buffer | null> {
  const source = await openRegularFile(from);
  if (source === null) return null;
  try {
    const { size, mtimeMs } = await source.stat();
    const copy = openSync(to, "wx", 0o600);
    try {
      const piece = Buffer.allocUnsafe(Math.min(size + 1, PIECE));
      let pieces = 0;
      let length = 0;
      let tail = Buffer.alloc(0);
      for (;;) {
        const { bytesRead } = await source.read(piece, 0, piece.length, null);
        if (bytesRead === 0) break;
        pieces++;
        length += bytesRead;
        if (length > MAX_INDEX) throw new Error(`${from} is larger than ${MAX_INDEX} bytes`);
        const read = piece.subarray(0, bytesRead);
        const seam = Buffer.concat([tail, read.subarray(0, SPARSE_INDEX.length)]);
        if (seam.includes(SPARSE_INDEX) || read.includes(SPARSE_INDEX))
          throw new Error(`${from} is a sparse index: git would touch the clone's objects to read it`);
        tail = Buffer.concat([tail, read.subarray(-SPARSE_INDEX.length)]).subarray(-SPARSE_INDEX.length);
        writeFileSync(copy, read);
      }
      const seconds = Math.floor(mtimeMs / 1000);
      futimesSync(copy, seconds, seconds);
      return pieces === 1 ? piece.subarray(0, length) : null;
    } finally {
      closeSync(copy);
    }
  } finally {
    await source.close();
  }
}
