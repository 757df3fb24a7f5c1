import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { wordsOf } from "../errors.ts";
import { parseGitfile, type Gitfile } from "../git/gitfile.ts";
import type { Clone } from "../model/clone.ts";
import { placeIn, WORKTREES_PLACE } from "../model/place.ts";
import {
  registrationId,
  type Identity,
  type Registered,
  type Skipped,
  type SkippedCode,
  type Worktree,
} from "../model/worktree.ts";
import { isDirectory, lstatOrNull, lstatWithin, readSmallFile } from "../system/small-file.ts";
import type { Registrations } from "./registrations.ts";

/** Where a listing starts: at a clone's own worktrees place, or at one worktree, whose bytes may lie elsewhere meanwhile. */
export type Start =
  | { readonly kind: "clone" }
  | { readonly kind: "subtree"; readonly place: string; readonly parent: string | null; readonly directory: string };

/** What stands in the worktrees places of a clone. Parents come before what is nested in them. */
export interface Listing {
  readonly worktrees: readonly Worktree[];
  readonly skipped: readonly Skipped[];
}

/** A directory in a worktrees place whose gitfile names a worktree of this clone. */
type Confirmed = Omit<Worktree, "registration" | "misfit">;

/**
 * Lists the entries of the worktrees places below a start, to any depth, and joins each worktree to its registration by its place.
 * No link is followed. Throws when a directory on the way cannot be read.
 */
export async function listWorktrees(clone: Clone, registrations: Registrations, start: Start): Promise<Listing> {
  const confirmed: Confirmed[] = [];
  const skipped: Skipped[] = [];

  const visitPlace = async (parent: string | null, holder: string): Promise<void> => {
    if (!(await isDirectory(join(holder, ".claude"))) || !(await isDirectory(join(holder, WORKTREES_PLACE)))) return;
    for (const name of (await readdir(join(holder, WORKTREES_PLACE))).toSorted()) {
      await visitEntry(placeIn(parent, name), parent, join(holder, WORKTREES_PLACE, name));
    }
  };

  const visitEntry = async (place: string, parent: string | null, directory: string): Promise<void> => {
    const entry = await inspectEntry(place, directory, registrations);
    if (entry === null) return;
    if ("code" in entry) {
      skipped.push({ place, parent, ...entry });
      return;
    }
    confirmed.push({ place, parent, directory, ...entry });
    await visitPlace(place, directory);
  };

  if (start.kind === "clone") await visitPlace(null, clone.path);
  else await visitEntry(start.place, start.parent, start.directory);
  return { worktrees: await joinRegistrations(clone, confirmed, registrations), skipped };
}

type Inspected =
  | { readonly code: SkippedCode; readonly detail: string }
  | { readonly identity: Identity; readonly gitfileId: string };

/** Says what one entry of a worktrees place is; null when it vanished. */
async function inspectEntry(place: string, directory: string, registrations: Registrations): Promise<Inspected | null> {
  if (place.includes("\uFFFD")) return { code: "not-a-worktree", detail: "its name is not valid UTF-8" };
  const stats = await lstatOrNull(directory);
  if (stats === null) return null;
  if (stats.isSymbolicLink()) return { code: "symlink", detail: "a symbolic link is never followed" };
  if (!stats.isDirectory()) return { code: "not-a-worktree", detail: "it is no directory" };
  let gitfile: Gitfile;
  try {
    const git = await lstatOrNull(join(directory, ".git"));
    if (git === null) return { code: "not-a-worktree", detail: "a plain directory without a gitfile" };
    if (git.isDirectory()) return { code: "other-repository", detail: "a repository of its own" };
    const bytes = await readSmallFile(join(directory, ".git"));
    if (bytes === null) return { code: "not-a-worktree", detail: "a plain directory without a gitfile" };
    gitfile = parseGitfile(bytes);
  } catch (error) {
    return { code: "unreadable-gitfile", detail: wordsOf(error) };
  }
  switch (gitfile.kind) {
    case "unreadable":
      return { code: "unreadable-gitfile", detail: "its .git file does not name a worktree's admin directory" };
    case "other":
      return { code: "other-repository", detail: `its gitfile names ${gitfile.gitDir}` };
    case "worktree":
      return registrations.isOwnPrefix(gitfile.prefix, place)
        ? { identity: { device: stats.dev, inode: stats.ino }, gitfileId: gitfile.id }
        : { code: "other-repository", detail: `its gitfile names a worktree of ${gitfile.prefix}` };
  }
}

/** Joins each confirmed directory to the registration that stands for it. */
function joinRegistrations(
  clone: Clone,
  confirmed: readonly Confirmed[],
  registrations: Registrations,
): Promise<Worktree[]> {
  const byId = new Map(registrations.all.map((registration) => [registrationId(registration), registration]));
  const byPlace = new Map<string, Registered[]>();
  for (const registration of registrations.all) {
    const place = registrations.placeOf(registration);
    if (place !== null) byPlace.set(place, [...(byPlace.get(place) ?? []), registration]);
  }
  return Promise.all(confirmed.map(async (directory) => ({ ...directory, ...(await standing(directory)) })));

  async function standing({ place, gitfileId }: Confirmed): Promise<Pick<Worktree, "registration" | "misfit">> {
    const named = byId.get(gitfileId);
    const [here, ...others] = byPlace.get(place) ?? [];
    if (named?.state === "unreadable") return { registration: named, misfit: null };
    if (here === undefined) {
      if (named === undefined) return { registration: { state: "none" }, misfit: null };
      // Its gitfile names a registration of another place: a copy of the worktree that still stands there, or that worktree itself, moved.
      const recorded = registrations.placeOf(named);
      if (recorded !== null && (await isGitfileOf(clone, recorded, gitfileId)))
        return { registration: { state: "none" }, misfit: null };
      return {
        registration: named,
        misfit: `its gitfile names registration ${gitfileId}, which records another place`,
      };
    }
    if (others.length > 0) return { registration: named ?? here, misfit: "several registrations record this place" };
    if (named === here) return { registration: here, misfit: null };
    return {
      registration: here,
      misfit: `registration ${registrationId(here)} records this place, but its gitfile names ${gitfileId}`,
    };
  }
}

async function isGitfileOf(clone: Clone, place: string, id: string): Promise<boolean> {
  if ((await lstatWithin(clone.path, place))?.isDirectory() !== true) return false;
  const bytes = await readSmallFile(join(clone.path, place, ".git"));
  const gitfile = bytes === null ? null : parseGitfile(bytes);
  return gitfile?.kind === "worktree" && gitfile.id === id;
}
