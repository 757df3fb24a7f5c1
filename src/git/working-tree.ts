import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../errors.ts";
import { readPlainIndex, type IndexListener } from "./index-file.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { splitNul, type Git } from "./run.ts";

/** What the index of a worktree says of its tracked files, with nothing hidden any more. */
export interface IndexFacts {
  /** Directories, relative to the worktree, that hold a tracked file at any depth; "" is the worktree itself. */
  readonly trackedDirectories: ReadonlySet<string>;
  /** Tracked paths that the caller asked to be remembered. */
  readonly remembered: ReadonlySet<string>;
}

/** Which tracked paths are to be remembered, by their names. */
export interface WantedNames {
  /** How they end, by `endingOf`: an ending that is not in here is not asked about. */
  readonly endings: ReadonlySet<number>;
  readonly includes: (basename: string) => boolean;
}

const NO_NAMES: WantedNames = { endings: new Set(), includes: () => false };

/** What `git status` says, by kind. Paths are relative to the worktree; a directory ends in a slash. */
export interface StatusFacts {
  readonly changed: readonly string[];
  /** The part of `changed` that differs from the index alone and is a modified regular entry: it may be a smudged LFS file. */
  readonly modified: readonly string[];
  /** The part of `changed` whose file is gone, and which is as HEAD has it in the index. */
  readonly deleted: readonly string[];
  readonly untracked: readonly string[];
  readonly ignored: readonly string[];
}

/**
 * Reads the index in a private git directory and clears, in that copy, the bits that hide edits: assume-unchanged everywhere, skip-worktree
 * where the file is there (GIT-FACTS fact 7; a file outside a sparse checkout is none). No git process where the index is plain, else one to three.
 */
export async function readIndex(
  git: Git,
  gitDir: PrivateGitDir,
  workTree: string,
  wanted: WantedNames = NO_NAMES,
): Promise<IndexFacts> {
  const plain = new IndexGathering(wanted);
  const bytes = await gitDir.readIndex();
  if (bytes !== null && readPlainIndex(bytes, gitDir.sha256, wanted.endings, plain)) return plain;

  const { stdout } = await git.run({ gitDir: gitDir.path, workTree, args: ["ls-files", "-z", "-v", "-s"] });
  const gathering = new IndexGathering(wanted);
  const assumed: string[] = [];
  const skipped: string[] = [];
  for (const record of splitNul(stdout)) {
    // `<tag> <mode> <object> <stage>\t<path>`; a tag in lower case is assume-unchanged, S is skip-worktree (git-ls-files(1)).
    const tab = record.indexOf("\t");
    const path = record.slice(tab + 1);
    const tag = record[0] ?? "";
    if (tag !== tag.toUpperCase()) assumed.push(path);
    if (tag.toUpperCase() === "S" && (await isThere(join(workTree, path)))) skipped.push(path);
    const slash = path.lastIndexOf("/");
    gathering.seeDirectory(slash < 0 ? "" : path.slice(0, slash));
    gathering.seeName(path.slice(slash + 1));
  }
  await clearBit(git, gitDir, workTree, "--no-assume-unchanged", assumed);
  await clearBit(git, gitDir, workTree, "--no-skip-worktree", skipped);
  return gathering;
}

class IndexGathering implements IndexFacts, IndexListener {
  readonly trackedDirectories = new Set<string>();
  readonly remembered = new Set<string>();
  readonly #wanted: WantedNames;
  #directory = "";

  constructor(wanted: WantedNames) {
    this.#wanted = wanted;
  }

  seeDirectory(directory: string): void {
    this.#directory = directory;
    // With all that hold it.
    let path = directory;
    while (!this.trackedDirectories.has(path)) {
      this.trackedDirectories.add(path);
      path = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
    }
  }

  seeName(name: string): void {
    if (this.#wanted.includes(name)) this.remembered.add(this.#directory === "" ? name : `${this.#directory}/${name}`);
  }
}

/** Returns what differs between HEAD, index and working tree, untracked and ignored paths included. One git process. */
export async function readStatus(git: Git, gitDir: PrivateGitDir, workTree: string): Promise<StatusFacts> {
  const { stdout } = await git.run({
    gitDir: gitDir.path,
    workTree,
    args: [
      "status",
      "--porcelain=v1",
      "-z",
      "--untracked-files=all",
      "--ignored=matching",
      "--ignore-submodules=dirty",
      "--no-renames",
    ],
  });
  const changed: string[] = [];
  const modified: string[] = [];
  const deleted: string[] = [];
  const untracked: string[] = [];
  const ignored: string[] = [];
  for (const record of splitNul(stdout)) {
    // `XY <path>`; no second path, as renames are off (git-status(1), porcelain v1).
    const path = record.slice(3);
    if (record.startsWith("?? ")) untracked.push(path);
    else if (record.startsWith("!! ")) ignored.push(path);
    else {
      changed.push(path);
      if (record.startsWith(" M ")) modified.push(path);
      if (record.startsWith(" D ")) deleted.push(path);
    }
  }
  return { changed, modified, deleted, untracked, ignored };
}

async function clearBit(
  git: Git,
  gitDir: PrivateGitDir,
  workTree: string,
  option: string,
  paths: readonly string[],
): Promise<void> {
  if (paths.length === 0) return;
  const input = paths.map((path) => `${path}\0`).join("");
  await git.run({ gitDir: gitDir.path, workTree, args: ["update-index", "-z", option, "--stdin"], input });
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw error;
  }
}
