import { wordsOf } from "../errors.ts";
import { listArchives, parseArchiveMessage, type ArchiveFacts, type ArchiveRef } from "../git/archive-ref.ts";
import type { Git } from "../git/run.ts";
import type { Found } from "./clones.ts";

/** An archive, the git directory that holds it, and what it says of the worktree that it was made of. */
export interface FoundArchive extends Omit<ArchiveRef, "message"> {
  /** The bare, or the git directory of a clone that has none. */
  readonly repository: string;
  readonly facts: ArchiveFacts;
}

/** The archives below repos_dir, oldest first, and the repositories that could not be asked. */
export interface Archives {
  readonly archives: readonly FoundArchive[];
  readonly errors: readonly string[];
}

/** Finds what forced removals saved: in every bare, and in every clone that has none. */
export async function findArchives(git: Git, found: Found): Promise<Archives> {
  const repositories = [
    ...found.bares.map(({ path }) => path),
    ...found.clones.filter(({ bare }) => bare === null).map(({ gitDir }) => gitDir),
  ];
  const archives: FoundArchive[] = [];
  const errors: string[] = [];
  for (const repository of repositories) {
    try {
      for (const { name, ref, object, message } of await listArchives(git, repository)) {
        const facts = parseArchiveMessage(message);
        if (facts === null) errors.push(`${ref} in ${repository} was not made by this version of dl`);
        else archives.push({ name, ref, object, repository, facts });
      }
    } catch (error) {
      errors.push(`${repository} could not be read: ${wordsOf(error)}`);
    }
  }
  return { archives: archives.toSorted((a, b) => (a.facts.createdAt < b.facts.createdAt ? -1 : 1)), errors };
}

/** Returns the archives that a name means: the one of exactly that name, else those that end in it, whole components only. */
export function matchArchives(archives: readonly FoundArchive[], name: string): FoundArchive[] {
  const wanted = name.replace(/^refs\/dl\/archive\//, "");
  const exact = archives.filter((archive) => archive.name === wanted);
  return exact.length > 0 ? exact : archives.filter((archive) => archive.name.endsWith(`/${wanted}`));
}
