import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, resolve, sep } from "node:path";
import { KnownError } from "../errors.ts";

/**
 * Where programs are looked up, and what PATH they are given: the absolute entries of the caller's PATH that do not lie
 * below repos_dir. An empty or relative entry means the current directory, where a clone may have planted a `git`.
 */
export class Programs {
  readonly path: string;
  /** All that a program has of an environment, unless it needs more: with it, what it says is in English. */
  readonly env: Readonly<Record<string, string>>;
  readonly #directories: readonly string[];

  constructor(callersPath: string | undefined, reposDir: string) {
    this.#directories = (callersPath ?? "").split(":").filter((entry) => {
      const real = realPathOf(entry);
      return isAbsolute(entry) && real !== reposDir && !real.startsWith(reposDir + sep);
    });
    this.path = this.#directories.join(":");
    this.env = { PATH: this.path, LC_ALL: "C" };
  }

  /** Returns the absolute path of a program, or null when no PATH entry has it. */
  find(name: string): string | null {
    for (const directory of this.#directories) {
      const candidate = join(directory, name);
      try {
        accessSync(candidate, constants.X_OK);
        if (statSync(candidate).isFile()) return candidate;
      } catch {
        // Not here: the next entry is asked.
      }
    }
    return null;
  }

  /** Returns the absolute path of a program. Throws a `KnownError` that says what to install when there is none. */
  require(name: string, why: string): string {
    const program = this.find(name);
    if (program === null)
      throw new KnownError(
        `dl needs \`${name}\` ${why}, and no absolute entry of PATH has it. Install it and run again.`,
      );
    return program;
  }
}

/** Returns where a PATH entry leads, through links, `.` and `..`; itself, made plain, where nothing is there. */
function realPathOf(entry: string): string {
  try {
    return realpathSync(entry);
  } catch {
    return resolve(entry);
  }
}
