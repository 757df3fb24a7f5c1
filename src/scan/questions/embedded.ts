import { dirname, join } from "node:path";
import type { Clone } from "../../model/clone.ts";
import { readSmallFile } from "../../system/small-file.ts";
import type { Tools } from "../tools.ts";
import { findStores, holdsWork, storeOf } from "./submodules.ts";

/** A registration and, where there is one, its directory: what may have a repository inside. */
export interface Inside {
  readonly clone: Clone;
  /** null for a directory that git forgot. */
  readonly admin: { readonly id: string; readonly directory: string } | null;
  readonly tree: {
    readonly place: string;
    /** Where its bytes are now. */
    readonly directory: string;
    /** Paths of entries called `.git` below it, its own and those of nested worktrees left out. */
    readonly gitEntries: readonly string[];
    readonly bareRepositories: readonly string[];
  } | null;
}

/**
 * Returns the paths of the repositories inside a worktree that hold, or may hold, what exists nowhere else: every one that is no worktree of
 * this clone, at any depth, ignored or not; and its submodules, unless their stores and their files are proved to exist elsewhere.
 */
export async function findEmbedded(tools: Tools, { clone, admin, tree }: Inside): Promise<string[]> {
  const stores = admin === null ? [] : await findStores(admin.directory);
  const modules = join(clone.gitDir, "worktrees", admin?.id ?? "", "modules");
  const pending = new Set(stores);
  const holding: string[] = [];
  for (const entry of tree?.gitEntries ?? []) {
    const path = dirname(entry);
    const store =
      tree === null
        ? null
        : storeOf(await readGitfile(join(tree.directory, entry)), join(clone.path, tree.place, path), modules, stores);
    if (store === null || tree === null) holding.push(path);
    else {
      pending.delete(store);
      if (await holdsWork(tools, store, join(tree.directory, path), join(clone.path, path))) holding.push(path);
    }
  }
  // A store without files beside it was never looked at whole.
  return [...holding, ...(tree?.bareRepositories ?? []), ...[...pending].map(({ name }) => `.git/modules/${name}`)];
}

async function readGitfile(path: string): Promise<string> {
  try {
    return (await readSmallFile(path))?.toString("utf8") ?? "";
  } catch {
    // A directory, a link, anything but a gitfile: a repository of its own.
    return "";
  }
}
