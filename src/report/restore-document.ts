import type { ArchiveEntry, RestoreDocument } from "./documents.ts";

/** An archive as it was found, with what its message says. */
export interface ArchiveSource {
  readonly name: string;
  readonly ref: string;
  readonly repository: string;
  readonly facts: {
    readonly createdAt: string;
    readonly workspace: string;
    readonly worktree: string;
    readonly branch: string | null;
    readonly commit: string | null;
    readonly changedPaths: number;
  };
}

/** Makes the JSON document of a restore: the archives it speaks of, and what was restored. */
export function restoreDocument(
  reposDir: string,
  archives: readonly ArchiveSource[],
  restored: RestoreDocument["restored"],
): RestoreDocument {
  return {
    schemaVersion: 1,
    command: "restore",
    reposDir,
    archives: archives.map(
      ({
        name,
        ref,
        repository,
        facts: { createdAt, workspace, worktree, branch, commit, changedPaths },
      }): ArchiveEntry => ({
        name,
        ref,
        repository,
        createdAt,
        workspace,
        worktree,
        branch,
        commit,
        changedPaths,
      }),
    ),
    restored,
  };
}
