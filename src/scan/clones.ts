import { constants } from "node:fs";
import { access, readdir, realpath, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { errnoOf, KnownError, wordsOf } from "../errors.ts";
import type { Bare, Clone } from "../model/clone.ts";
import { isDirectory, lstatOrNull } from "../system/small-file.ts";
import { ask } from "./questions/ask.ts";

/** The name of the directory, beside the clones of a repository, that removed worktrees pass through. */
export const QUARANTINE = ".dl-quarantine";

/** What lies below repos_dir. */
export interface Found {
  readonly clones: readonly Clone[];
  /** Every bare that sits where one is expected, with or without clones beside it. */
  readonly bares: readonly Bare[];
  /** Directories that hold a quarantine: an earlier run may have been interrupted there. */
  readonly quarantined: readonly string[];
  /** Directories that could not be read, each with why: what is below them was not seen. */
  readonly unreadable: readonly { readonly path: string; readonly words: string }[];
}

/**
 * Returns the real path of repos_dir, or null when it does not exist: an empty world.
 * Throws a `KnownError` when it is no readable directory, or is itself a repository.
 */
export async function openReposDir(path: string): Promise<string | null> {
  const given = resolve(path);
  try {
    const real = await realpath(given);
    if (!(await stat(real)).isDirectory())
      throw new KnownError(`${given} is not a directory. Give --repos-dir a directory that holds repositories.`);
    await access(real, constants.R_OK | constants.X_OK);
    if ((await lstatOrNull(join(real, ".git"))) !== null) {
      throw new KnownError(
        `${given} is itself a git repository. Give --repos-dir the directory that holds it and its .bare.`,
      );
    }
    return real;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    if (error instanceof KnownError) throw error;
    throw new KnownError(`${given} cannot be read: ${wordsOf(error)}. Give --repos-dir a directory that you can read.`);
  }
}

/**
 * Finds the clones below repos_dir, to any depth: follows no link, stops at a clone, and skips `.bare` and other names that start
 * with a dot (SPEC §2). Sorted by path.
 */
export async function findClones(reposDir: string): Promise<Found> {
  const clones: Clone[] = [];
  const bares: Bare[] = [];
  const quarantined: string[] = [];
  const unreadable: { path: string; words: string }[] = [];
  const visit = async (directory: string): Promise<void> => {
    let entries;
    try {
      entries = await readdir(directory, { withFileTypes: true });
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") unreadable.push({ path: directory, words: wordsOf(error) });
      return;
    }
    if (entries.some((entry) => entry.name === QUARANTINE)) quarantined.push(directory);
    const bare = entries.some((entry) => entry.name === ".bare" && entry.isDirectory())
      ? await readBare(join(directory, ".bare"))
      : null;
    if (bare !== null) bares.push(bare);
    for (const entry of entries) {
      if (!entry.isDirectory() || entry.name.startsWith(".")) continue;
      const path = join(directory, entry.name);
      if (entry.name.includes("\uFFFD")) unreadable.push({ path, words: "its name is not valid UTF-8" });
      else {
        const isRepository = await ask(() => isDirectory(join(path, ".git")));
        if (isRepository.kind === "unanswered") unreadable.push({ path, words: isRepository.words });
        else if (isRepository.value) clones.push(describeClone(reposDir, path, bare));
        else await visit(path);
      }
    }
  };
  await visit(reposDir);
  return { clones: clones.toSorted((a, b) => (a.path < b.path ? -1 : 1)), bares, quarantined, unreadable };
}

function describeClone(reposDir: string, path: string, bare: Bare | null): Clone {
  const names = relative(reposDir, path).split("/");
  return {
    path,
    gitDir: join(path, ".git"),
    repositoryDir: join(path, ".."),
    workspace: names.at(-1) ?? "",
    repo: names.at(-2) ?? null,
    owner: names.slice(0, -2).join("/") || null,
    bare,
  };
}

async function readBare(path: string): Promise<Bare> {
  // A bare that cannot be entered is still the one to ask: git's own words will hold what rests on it.
  const fetched = await ask(() => lstatOrNull(join(path, "FETCH_HEAD")));
  return { path, lastFetch: fetched.kind === "answered" ? (fetched.value?.mtime ?? null) : null };
}
