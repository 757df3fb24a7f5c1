import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { wordsOf } from "../errors.ts";
import { readInterruptedCommits, readOwnRefs } from "../git/admin-directory.ts";
import { ARCHIVE_NAMESPACE, archiveMessage, archiveName, listArchives, type ArchiveFacts } from "../git/archive-ref.ts";
import { PrivateGitDir } from "../git/private-git-dir.ts";
import { keepCommits } from "../git/reachability.ts";
import { readBranches } from "../git/refs.ts";
import { splitNul, type Git } from "../git/run.ts";
import { readIndex, readStatus } from "../git/working-tree.ts";
import type { Clone } from "../model/clone.ts";
import { WORKTREES_PLACE } from "../model/place.ts";
import type { PlannedWorktree } from "../plan/plan.ts";
import { makeBaseline, readableAdmin } from "../scan/evidence.ts";
import type { Tools } from "../scan/tools.ts";

/** What a forced removal saved of one worktree. */
export interface Archive {
  /** The name below `refs/dl/archive/` that `dl --restore` takes. */
  readonly name: string;
  readonly place: string;
  /** The git directory that holds it: the bare's, or the clone's where there is none. */
  readonly repository: string;
  readonly commit: string;
}

/**
 * Saves a worktree's whole non-ignored content, its index where that differs from HEAD, and its HEAD as one commit in the bare, and reads it back
 * (SPEC §6.10, GIT-FACTS 11). Parents: HEAD, the index, then whatever else dies with the admin directory. Nothing is written to the
 * worktree. Throws when it cannot be saved whole.
 */
export async function archiveWorktree(tools: Tools, clone: Clone, entry: PlannedWorktree): Promise<Archive> {
  const { worktree, evidence } = entry;
  const branches = await readBranches(tools.git, clone.gitDir);
  const { gitDir } = await makeBaseline(tools, clone, branches, worktree, evidence.head);
  try {
    await keepBytesAsTheyAre(gitDir);
    const ask = async (...args: string[]): Promise<string> =>
      (await tools.git.run({ gitDir: gitDir.path, workTree: worktree.directory, args })).stdout.toString("utf8").trim();
    await readIndex(tools.git, gitDir, worktree.directory);
    const head = await readHeadCommit(tools.git, gitDir);
    const headTree = head === null ? null : await ask("rev-parse", "--verify", `${head}^{tree}`);
    const indexTree = await writeIndexTree(ask);
    await ask("add", "-A");
    // Files whose stat data say unchanged were not read again: a checked-out line end or a smudged LFS file is saved as it lies there.
    await ask("add", "--renormalize", "--", ":/");
    const tree = await ask("write-tree");
    const facts: ArchiveFacts = {
      version: 1,
      createdAt: new Date().toISOString(),
      workspace: clone.workspace,
      worktree: worktree.place,
      branch: evidence.head?.kind === "branch" || evidence.head?.kind === "unborn" ? evidence.head.ref : null,
      commit: head,
      indexTree: indexTree === headTree ? null : indexTree,
      changedPaths: await countChanged(tools.git, gitDir, headTree, [indexTree, tree]),
    };
    const parents = head === null ? [] : [head];
    if (facts.indexTree !== null)
      parents.push(await ask("commit-tree", indexTree, ...parentArgs(parents), "-m", "index"));
    parents.push(...(await otherCommits(tools.git, gitDir, entry, parents)));
    const { stdout } = await tools.git.run({
      gitDir: gitDir.path,
      args: ["commit-tree", tree, ...parentArgs(parents), "-F", "-"],
      input: archiveMessage(facts),
    });
    const commit = stdout.toString("utf8").trim();
    await ask("update-ref", "refs/heads/archive", commit);
    return await store(tools.git, clone, gitDir, { place: worktree.place, commit, tree, facts });
  } finally {
    gitDir.remove();
  }
}

/** Throws unless the archive holds, byte for byte, the non-ignored content of a directory as it is now. */
export async function requireArchived(tools: Tools, archive: Archive, directory: string): Promise<void> {
  const { commit, repository } = archive;
  const objects = [`${repository}/objects`];
  const gitDir = await PrivateGitDir.create(tools.temporary, {
    commit,
    objects,
    indexOf: null,
    sha256: commit.length === 64,
  });
  try {
    await keepBytesAsTheyAre(gitDir);
    await tools.git.run({ gitDir: gitDir.path, workTree: directory, args: ["read-tree", commit] });
    const { changed, untracked } = await readStatus(tools.git, gitDir, directory);
    const different = [...changed, ...untracked];
    if (different.length > 0)
      throw new Error(`what was saved of it is not what it holds: ${different.slice(0, 3).join(", ")}`);
  } finally {
    gitDir.remove();
  }
}

/** No conversion of line ends, keywords or encodings, whatever the tree's attributes ask for; nested worktrees are saved as their own. */
async function keepBytesAsTheyAre(gitDir: PrivateGitDir): Promise<void> {
  await writeFile(join(gitDir.path, "info", "attributes"), "* -text -ident -filter -working-tree-encoding\n");
  await writeFile(join(gitDir.path, "info", "exclude"), `/${WORKTREES_PLACE}/\n`);
}

async function readHeadCommit(git: Git, gitDir: PrivateGitDir): Promise<string | null> {
  const { exitCode, stdout } = await git.run({
    gitDir: gitDir.path,
    args: ["rev-parse", "-q", "--verify", "HEAD"],
    exitCodes: [0, 1],
  });
  return exitCode === 0 ? stdout.toString("utf8").trim() : null;
}

async function writeIndexTree(ask: (...args: string[]) => Promise<string>): Promise<string> {
  if ((await ask("ls-files", "-u", "-z")) !== "") {
    throw new Error(
      "its index has unmerged paths, which cannot be saved: resolve them, or abort what is under way, and run again",
    );
  }
  return ask("write-tree");
}

async function countChanged(
  git: Git,
  gitDir: PrivateGitDir,
  headTree: string | null,
  trees: readonly string[],
): Promise<number> {
  const paths = new Set<string>();
  for (const tree of trees) {
    const args =
      headTree === null
        ? ["ls-tree", "-r", "-z", "--name-only", tree]
        : ["diff-tree", "-r", "-z", "--name-only", headTree, tree];
    for (const path of splitNul((await git.run({ gitDir: gitDir.path, args })).stdout)) paths.add(path);
  }
  return paths.size;
}

/** Commits that die with the admin directory and that neither HEAD nor the index names. Throws when a ref of its own names no commit. */
async function otherCommits(
  git: Git,
  gitDir: PrivateGitDir,
  entry: PlannedWorktree,
  parents: readonly string[],
): Promise<string[]> {
  const admin = readableAdmin(entry.worktree);
  if (admin === null) return [];
  const own = new Set(await readOwnRefs(admin.directory));
  const saved = new Set(await keepCommits(git, gitDir.path, [...own]));
  const lost = [...own].find((object) => !saved.has(object));
  if (lost !== undefined) throw new Error(`one of its own refs names ${lost}, which is no commit and cannot be saved`);
  // What an operation left behind may be gone by now, or be no commit: it is saved where it is one.
  for (const commit of await keepCommits(git, gitDir.path, await readInterruptedCommits(admin.directory)))
    saved.add(commit);
  return [...saved].filter((commit) => !parents.includes(commit));
}

function parentArgs(parents: readonly string[]): string[] {
  return parents.flatMap((parent) => ["-p", parent]);
}

interface Saved {
  readonly place: string;
  readonly commit: string;
  readonly tree: string;
  readonly facts: ArchiveFacts;
}

/** Brings the archive's commit into the repository under a free name, and reads it back. */
async function store(
  git: Git,
  clone: Clone,
  gitDir: PrivateGitDir,
  { place, commit, tree, facts }: Saved,
): Promise<Archive> {
  const repository = clone.bare?.path ?? clone.gitDir;
  const name = archiveName(facts, new Set((await listArchives(git, repository)).map((archive) => archive.name)));
  const ref = `${ARCHIVE_NAMESPACE}${name}`;
  await git.run({
    gitDir: repository,
    args: [
      "fetch",
      "-q",
      "--no-tags",
      "--no-recurse-submodules",
      "--no-write-fetch-head",
      gitDir.path,
      `refs/heads/archive:${ref}`,
    ],
    env: { GIT_ALLOW_PROTOCOL: "file" },
    timeLimitMs: 10 * 60_000,
  });
  try {
    const saved = await git.run({ gitDir: repository, args: ["rev-parse", "--verify", `${ref}^{tree}`] });
    if (saved.stdout.toString("utf8").trim() !== tree) throw new Error(`${ref} holds another tree`);
    await git.run({
      gitDir: repository,
      args: ["rev-list", "--objects", "--quiet", ref, "--not", "--branches", "--remotes"],
      timeLimitMs: 10 * 60_000,
    });
  } catch (error) {
    throw new Error(`what was saved could not be read back: ${wordsOf(error)}`, { cause: error });
  }
  return { name, place, repository, commit };
}
