import { mkdtemp, mkdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { errnoOf, KnownError } from "../errors.ts";

/** A directory of this run alone in the system's temporary directory; all that planning writes goes there (SPEC §6.8). */
export class TemporaryDirectory {
  readonly path: string;
  #made = 0;

  private constructor(path: string) {
    this.path = path;
  }

  /** Throws a `KnownError` when the system's temporary directory is full, not writable, or lies below repos_dir. */
  static async create(reposDir: string): Promise<TemporaryDirectory> {
    try {
      const root = await realpath(tmpdir());
      if (root === reposDir || root.startsWith(reposDir + sep)) {
        throw new KnownError(
          `The temporary directory ${root} lies below ${reposDir}. Set TMPDIR to one that does not and run again.`,
        );
      }
      return new TemporaryDirectory(await mkdtemp(join(root, "dl-")));
    } catch (error) {
      if (error instanceof KnownError) throw error;
      throw new KnownError(temporaryWords(error), 1);
    }
  }

  /** Makes and returns a new empty directory inside. Throws when the disk is full, and says so. */
  async make(): Promise<string> {
    const path = join(this.path, String(this.#made++));
    await mkdir(path);
    return path;
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** Returns what to say when something could not be written to the temporary directory. */
export function temporaryWords(error: unknown): string {
  const why = errnoOf(error) === "ENOSPC" ? "is full" : `cannot be written to (${errnoOf(error) ?? String(error)})`;
  return `The temporary directory ${tmpdir()} ${why}. dl needs a few MiB there; free some, or set TMPDIR to another place.`;
}
