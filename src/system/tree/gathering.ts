import { constants, lstatSync, readdirSync } from "node:fs";
import { runChild } from "../child.ts";
import { errnoOf } from "../../errors.ts";
import type { StuckDirectory } from "../../model/evidence.ts";
import { isOwn } from "../user.ts";
import { join, mayAccess, parentOf, toBuffer, toRaw, toText, type RawPath } from "./raw-path.ts";
import { Weight } from "./weight.ts";

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

/** What one walk gathers. What only looks like a find is judged at the end, one by one: there are few. */
export class Gathering {
  readonly weight = new Weight();
  readonly #root: RawPath;
  readonly #gitEntries: RawPath[] = [];
  readonly #heads: RawPath[] = [];
  readonly #restricted: { readonly path: RawPath; readonly uid: number }[] = [];

  constructor(tree: string) {
    this.#root = toRaw(tree);
  }

  sawGitEntry(path: RawPath): void {
    if (path !== "" && path !== ".git") this.#gitEntries.push(path);
  }

  /** Notes something called `HEAD` that is no directory. */
  sawHead(path: RawPath): void {
    if (path !== "" && !path.split("/").includes(".git")) this.#heads.push(path);
  }

  /** Notes a directory that this user may not read, enter or change as they like. */
  sawRestricted(path: RawPath, uid: number): void {
    this.#restricted.push({ path, uid });
  }

  async finish(): Promise<TreeFacts> {
    const bareRepositories = this.#heads.map(parentOf).filter((path) => isBareRepository(join(this.#root, path)));
    const owners = new Map<number, string>();
    const stuck: StuckDirectory[] = [];
    const unreadable: string[] = [];
    for (const { path, uid } of this.#restricted.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
      const judgement = judgeRestricted(join(this.#root, path));
      if (judgement === "removable") continue;
      const owner = owners.get(uid) ?? (await userName(uid));
      owners.set(uid, owner);
      stuck.push({ path: toText(path), owner });
      if (judgement === "stuck") continue;
      unreadable.push(toText(path));
      this.weight.countUnreadable();
    }
    this.weight.settle();
    return {
      weight: this.weight,
      gitEntries: this.#gitEntries.toSorted().map(toText),
      bareRepositories: bareRepositories.toSorted().map(toText),
      stuck,
      unreadable,
    };
  }
}

/** Whether a directory that holds a `HEAD` also holds what else makes a repository. Links count, as they do for git. */
function isBareRepository(directory: RawPath): boolean {
  return ["objects", "refs"].every((name) => {
    const stats = lstatSync(toBuffer(join(directory, name)), { throwIfNoEntry: false });
    return stats !== undefined && (stats.isDirectory() || stats.isSymbolicLink());
  });
}

/** Whether a restricted directory keeps its content from being removed, or even from being looked at. */
function judgeRestricted(directory: RawPath): "removable" | "stuck" | "unreadable" {
  const at = toBuffer(directory);
  let names: RawPath[];
  try {
    names = readdirSync(at, { encoding: "latin1" });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "removable";
    if (errnoOf(error) === "EACCES" || errnoOf(error) === "EPERM") return "unreadable";
    throw error;
  }
  // Nothing in it has to be removed, and it itself is an entry of the directory above.
  if (names.length === 0) return "removable";
  if (!mayAccess(at, constants.X_OK)) return "unreadable";
  if (!mayAccess(at, constants.W_OK)) return "stuck";
  // Somebody else's sticky directory: only its entries that belong to this user can be removed.
  const isOthers = (name: RawPath): boolean => {
    const stats = lstatSync(toBuffer(join(directory, name)), { throwIfNoEntry: false });
    return stats !== undefined && !isOwn(stats);
  };
  return names.some(isOthers) ? "stuck" : "removable";
}

/** Returns the name of a user, or the number where it has none. Node knows only the name of its own. */
async function userName(uid: number): Promise<string> {
  const { exitCode, stdout } = await runChild("/usr/bin/id", ["-nu", String(uid)], { env: { PATH: "", LC_ALL: "C" } });
  return (exitCode === 0 && stdout.toString().trim()) || String(uid);
}
