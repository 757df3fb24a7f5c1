import type { ArchiveEntry, RestoreDocument } from "./documents.ts";
import { ago, harmless, nameOf, plural, wrap } from "./plain-text.ts";
import type { View } from "./view.ts";

const INDENT = "  ";

/** Returns what forced removals saved, or what was restored of it, as text. */
export function renderArchives(document: RestoreDocument, view: View): string {
  const { archives, restored } = document;
  if (restored !== null) return `${harmless(restored.name)} is restored in ${harmless(restored.to)}\n`;
  if (archives.length === 0) return "No forced removal has saved anything.\n";
  const room = view.width === null ? null : Math.max(20, view.width - INDENT.length);
  // A name is copied: it is never shortened, however narrow the terminal.
  const lines = archives.flatMap((archive) => [
    view.style.bold(harmless(archive.name)),
    ...wrap(`${whence(archive, document.reposDir)}, saved ${when(archive, view)}`, room).map((line) => INDENT + line),
    ...wrap(`${headOf(archive)}, ${plural(archive.changedPaths, "changed path")}`, room).map((line) => INDENT + line),
    "",
  ]);
  return `${[...lines, ...wrap("To bring one back: dl --restore NAME --to DIR", view.width)].join("\n")}\n`;
}

/** The clone and the worktree that it was saved of. */
function whence({ repository, workspace, worktree }: ArchiveEntry, reposDir: string): string {
  const inside = repository.startsWith(`${reposDir}/`) ? repository.slice(reposDir.length + 1) : repository;
  // The repository is the bare beside the clone, or the clone's own git directory.
  const dir = inside.replace(/\/\.bare$/, `/${workspace}`).replace(/\/\.git$/, "");
  return `${nameOf(worktree)} of ${harmless(dir)}`;
}

/** An archive of a clone's own says what the clone says: its date may be none. */
function when({ createdAt }: ArchiveEntry, view: View): string {
  const date = new Date(createdAt);
  if (Number.isNaN(date.getTime())) return "at an unknown time";
  return `${ago(date, view.now)} (${date.toISOString().slice(0, 16)}Z)`;
}

function headOf({ branch, commit }: ArchiveEntry): string {
  const at = commit === null ? "no commit" : commit.slice(0, 8);
  if (branch !== null) return harmless(`on ${branch.replace(/^refs\/heads\//, "")} at ${at}`);
  return harmless(commit === null ? at : `detached at ${at}`);
}
