import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isObjectId, readOperations } from "../../git/admin-directory.ts";
import { PrivateGitDir } from "../../git/private-git-dir.ts";
import { askReach } from "../../git/reachability.ts";
import { splitLines } from "../../git/run.ts";
import { isDirectory, lstatOrNull, readSmallFile } from "../../system/small-file.ts";
import type { Tools } from "../tools.ts";
import { ask } from "./ask.ts";
import { askWorkingTree } from "./working-tree.ts";

/** The store of a submodule: a git directory below `<admin directory>/modules`, which dies with it (GIT-FACTS fact 8). */
export interface SubmoduleStore {
  /** Its path below `modules`. */
  readonly name: string;
  readonly gitDir: string;
}

/** Returns the stores below an admin directory, those of submodules of submodules included. No link is followed. */
export async function findStores(adminDirectory: string): Promise<SubmoduleStore[]> {
  const stores: SubmoduleStore[] = [];
  const visit = async (directory: string, name: string): Promise<void> => {
    if (await isStore(directory)) {
      stores.push({ name, gitDir: directory });
      if (await isDirectory(join(directory, "modules"))) await visit(join(directory, "modules"), `${name}/modules`);
      return;
    }
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      if (!entry.isDirectory())
        throw new Error(`${join(directory, entry.name)} is neither a submodule's store nor a directory of such`);
      await visit(join(directory, entry.name), name === "" ? entry.name : `${name}/${entry.name}`);
    }
  };
  const modules = join(adminDirectory, "modules");
  if ((await lstatOrNull(modules)) === null) return stores;
  if (!(await isDirectory(modules))) throw new Error(`${modules} is no directory`);
  await visit(modules, "");
  return stores;
}

async function isStore(directory: string): Promise<boolean> {
  return (await lstatOrNull(join(directory, "HEAD"))) !== null && (await isDirectory(join(directory, "objects")));
}

/**
 * Returns the store that a submodule's gitfile names, or null when it names none of these. The path in it is text: it is read as the git
 * directory that it meant where the worktree's place is, wherever the bytes lie now.
 */
export function storeOf(
  gitfile: string,
  placeOfSubmodule: string,
  modules: string,
  stores: readonly SubmoduleStore[],
): SubmoduleStore | null {
  const text = /^gitdir: (.+?)[\r\n]*$/.exec(gitfile)?.[1];
  if (text === undefined) return null;
  const named = resolve(placeOfSubmodule, text);
  return stores.find(({ name }) => join(modules, name) === named) ?? null;
}

/**
 * Whether a submodule holds what exists nowhere else: a ref or HEAD that its own remote-tracking refs do not reach, an edit, an untracked file,
 * an ignored only copy. Throws when it cannot be told.
 */
export async function holdsWork(
  tools: Tools,
  store: SubmoduleStore,
  directory: string,
  copyInClone: string,
): Promise<boolean> {
  const { gitDir } = store;
  // What an operation keeps, and the HEADs of worktrees of the store, are no refs of it: they die with it all the same.
  if ((await readOperations(gitDir)).length > 0 || (await lstatOrNull(join(gitDir, "worktrees"))) !== null) return true;
  const head = (await readSmallFile(join(gitDir, "HEAD")))?.toString("utf8").trim() ?? "";
  const { stdout } = await tools.git.run({
    gitDir,
    args: ["for-each-ref", "--format=%(refname) %(objectname) %(*objectname)"],
  });
  const refs = splitLines(stdout).map((line) => {
    const [name = "", object = "", peeled = ""] = line.split(" ");
    return { name, commit: peeled || object };
  });
  const branch = /^ref:\s*(\S+)$/.exec(head)?.[1];
  const commit = branch === undefined ? head : refs.find(({ name }) => name === branch)?.commit;
  if (commit === undefined || !isObjectId(commit)) return true;
  const own = refs.filter(({ name }) => !name.startsWith("refs/remotes/")).map((ref) => ref.commit);
  const commits = [...new Set([commit, ...own])];
  const safe = { gitDir, refs: ["--glob=refs/remotes/*"], trustCommitGraph: false };
  if ((await askReach(tools.git, safe, commits)).reached.size < commits.length) return true;

  const source = { commit, objects: [join(gitDir, "objects")], indexOf: gitDir, sha256: commit.length === 64 };
  const baseline = await ask(async () => ({
    gitDir: await PrivateGitDir.create(tools.temporary, source),
    status: null,
  }));
  const tree = await askWorkingTree(
    tools,
    { directory, clonePath: copyInClone, nestedNames: new Set(), isForgotten: false },
    baseline,
  );
  if (baseline.kind === "answered") baseline.value.gitDir.remove();
  if (tree.uncommitted.kind === "unanswered") throw new Error(tree.uncommitted.words);
  if (tree.ignored.kind === "unanswered") throw new Error(tree.ignored.words);
  return tree.uncommitted.value.length > 0 || tree.ignored.value.files > 0;
}
