import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { wordsOf } from "../errors.ts";
import type { AdminRecord, Head, ReadableAdmin } from "../model/worktree.ts";
import { isDirectory, lstatOrNull, lstatWithin, readSmallFile } from "../system/small-file.ts";

/** The admin directories of a clone, or the words of why they cannot be listed. */
export type AdminListing =
  | { readonly kind: "listed"; readonly records: readonly AdminRecord[] }
  | { readonly kind: "unreadable"; readonly words: string };

/**
 * Reads the admin directories below `adminRoot` (`<clone>/.git/worktrees`) as GIT-FACTS 1 recommends: no link followed in any
 * component that a container can write, small regular files only, no blocking open. `git worktree list` does not show all that
 * `git worktree prune` would drop (fact 0.4); this does.
 */
export async function readAdminDirectories(adminRoot: string): Promise<AdminListing> {
  try {
    const root = await lstatOrNull(adminRoot);
    if (root === null) return { kind: "listed", records: [] };
    if (!root.isDirectory()) return { kind: "unreadable", words: `${adminRoot} is not a directory` };
    const names = (await readdir(adminRoot)).toSorted();
    return { kind: "listed", records: await Promise.all(names.map((id) => readAdminDirectory(adminRoot, id))) };
  } catch (error) {
    return { kind: "unreadable", words: wordsOf(error) };
  }
}

async function readAdminDirectory(adminRoot: string, id: string): Promise<AdminRecord> {
  const directory = join(adminRoot, id);
  const unreadable = (words: string): AdminRecord => ({ kind: "unreadable", id, directory, words });
  try {
    if (!(await isDirectory(directory))) return unreadable(`${directory} is a link or no directory`);
    const [gitdir, head, lock, commondir, reftable] = await Promise.all([
      readSmallFile(join(directory, "gitdir")),
      readSmallFile(join(directory, "HEAD")),
      readSmallFile(join(directory, "locked")),
      readSmallFile(join(directory, "commondir")),
      lstatOrNull(join(directory, "reftable")),
    ]);
    const recorded = gitdir?.toString("utf8").replace(/[\r\n]+$/, "") ?? "";
    if (recorded === "") return unreadable("it has no gitdir file, or an empty one");
    // A gitdir with line breaks forges whole records in git's own listing (GIT-FACTS 1).
    if (/[\0\n\r\uFFFD]/.test(recorded) || !recorded.endsWith("/.git"))
      return unreadable("its gitdir file is not the path of a gitfile");
    // Anything but its own clone would have git act on another repository (fact 0.2).
    if (commondir?.toString("utf8").trim() !== "../..")
      return unreadable("its commondir file does not name this clone");
    if (reftable !== null) return unreadable("its refs are kept in a reftable, which dl does not read");
    return {
      kind: "readable",
      id,
      directory,
      recordedPath: recorded.slice(0, -"/.git".length),
      headText: head === null ? null : head.toString("utf8").trim(),
      lock: lock === null ? null : { reason: lock.toString("utf8").trim() || null },
    };
  } catch (error) {
    return unreadable(wordsOf(error));
  }
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Whether a text is an object id in full, so that it can be put to git on standard input (`^id` un-asks others: GIT-FACTS 7). */
export function isObjectId(text: string): boolean {
  return OBJECT_ID.test(text) && !/^0+$/.test(text);
}

/** Returns what a worktree's HEAD says, given the branch tips of its clone. */
export function readHead(admin: ReadableAdmin, branches: ReadonlyMap<string, string>): Head {
  const text = admin.headText;
  if (text === null) return { kind: "broken", words: "its admin directory has no HEAD" };
  if (isObjectId(text)) return { kind: "detached", commit: text };
  const ref = /^ref:\s*(refs\/heads\/\S+)$/.exec(text)?.[1];
  if (ref === undefined || ref === "refs/heads/.invalid" || ref.includes("\uFFFD"))
    return { kind: "broken", words: "its HEAD is neither a branch nor a commit" };
  const commit = branches.get(ref);
  return commit === undefined ? { kind: "unborn", ref } : { kind: "branch", ref, commit };
}

const MAX_OWN_REFS = 10_000;

/**
 * Returns the commits that the per-worktree refs of an admin directory hold (refs/worktree, refs/bisect, refs/rewritten): they
 * die with it (GIT-FACTS 8). Throws when one of them is a link, a symbolic ref, or no object id.
 */
export async function readOwnRefs(adminDirectory: string): Promise<string[]> {
  const commits: string[] = [];
  const visit = async (directory: string): Promise<void> => {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) {
        await visit(path);
        continue;
      }
      const text = (await readSmallFile(path))?.toString("utf8").trim() ?? "";
      if (!isObjectId(text)) throw new Error(`${path} is not a ref that names an object`);
      if (commits.push(text) > MAX_OWN_REFS)
        throw new Error(`${adminDirectory}/refs holds more than ${MAX_OWN_REFS} refs`);
    }
  };
  const refs = await lstatOrNull(join(adminDirectory, "refs"));
  if (refs === null) return commits;
  if (!refs.isDirectory()) throw new Error(`${adminDirectory}/refs is not a directory`);
  await visit(join(adminDirectory, "refs"));
  return commits;
}

/** Marker in the admin directory → the operation that it shows to be under way (GIT-FACTS 5.3). */
const OPERATIONS = {
  MERGE_HEAD: "merge",
  MERGE_AUTOSTASH: "merge",
  "rebase-merge": "rebase",
  "rebase-apply": "rebase",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
  sequencer: "cherry-pick or revert sequence",
  BISECT_LOG: "bisect",
  BISECT_START: "bisect",
} as const;

/** Returns the operations that an admin directory shows to be under way. Throws when it cannot be told. */
export async function readOperations(adminDirectory: string): Promise<string[]> {
  const operations = new Set<string>();
  for (const [marker, operation] of Object.entries(OPERATIONS)) {
    if ((await lstatOrNull(join(adminDirectory, marker))) !== null) operations.add(operation);
  }
  return [...operations];
}

/** Files of an admin directory that name a commit while an operation is under way (GIT-FACTS 8). */
const INTERRUPTED = [
  "MERGE_HEAD",
  "MERGE_AUTOSTASH",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "REBASE_HEAD",
  "ORIG_HEAD",
  ...["orig-head", "onto", "stopped-sha", "autostash", "amend"].flatMap((name) => [
    `rebase-merge/${name}`,
    `rebase-apply/${name}`,
  ]),
];

/** Returns the object ids that the operations under way in an admin directory name: they die with it. Throws when one cannot be read. */
export async function readInterruptedCommits(adminDirectory: string): Promise<string[]> {
  const commits: string[] = [];
  for (const name of INTERRUPTED) {
    if ((await lstatWithin(adminDirectory, name)) === null) continue;
    const text = (await readSmallFile(join(adminDirectory, name)))?.toString("utf8") ?? "";
    commits.push(...text.split("\n").filter(isObjectId));
  }
  return commits;
}
