import type { ArchiveEntry, RestoreDocument } from "./documents.ts";
import { ago, harmless, plural } from "./plain-text.ts";
import type { View } from "./view.ts";

/** Returns what forced removals saved, or what was restored of it, as text. */
export function renderArchives({ archives, restored }: RestoreDocument, view: View): string {
  if (restored !== null) return `${harmless(restored.name)} is restored in ${harmless(restored.to)}\n`;
  if (archives.length === 0) return "No forced removal has saved anything.\n";
  const lines = archives.flatMap((archive) => [
    view.style.bold(harmless(archive.name)),
    `  ${harmless(describe(archive, view))}`,
  ]);
  return `${[...lines, "", "To bring one back: dl --restore NAME --to DIR"].join("\n")}\n`;
}

function describe({ createdAt, worktree, workspace, branch, commit, changedPaths }: ArchiveEntry, view: View): string {
  const at = commit === null ? "no commit" : commit.slice(0, 8);
  const head = branch === null ? `detached at ${at}` : `${branch.replace(/^refs\/heads\//, "")} at ${at}`;
  return `saved ${ago(new Date(createdAt), view.now)} from ${workspace}/${worktree}; ${head}; ${plural(changedPaths, "changed path")}`;
}
