import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf, KnownError, wordsOf } from "../errors.ts";
import type { ArchiveFacts } from "../git/archive-ref.ts";
import type { Git } from "../git/run.ts";
import type { FoundArchive } from "../scan/archives.ts";

/**
 * Makes `to` from an archive: a repository with the branches of the one that holds it, whose `origin` is the forge, on the branch or commit that
 * the worktree had, with its index and its uncommitted files as they were (SPEC §3). The archive is not touched. Throws a `KnownError`
 * when `to` exists; when anything else fails, `to` is taken away again.
 */
export async function restoreArchive(git: Git, archive: FoundArchive, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  try {
    await mkdir(to);
  } catch (error) {
    if (errnoOf(error) === "EEXIST")
      throw new KnownError(`${to} exists. Give --to a path that does not: nothing is ever written over.`);
    throw new KnownError(`${to} could not be made: ${wordsOf(error)}.`);
  }
  try {
    await fill(git, archive, to);
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    throw new KnownError(
      `${archive.name} could not be restored: ${wordsOf(error)}. ${to} was taken away again; the archive is as it was.`,
      1,
    );
  }
}

async function fill(git: Git, { repository, ref, name, object, facts }: FoundArchive, to: string): Promise<void> {
  const gitDir = join(to, ".git");
  const run = async (...args: string[]): Promise<void> => {
    await git.run({ gitDir, workTree: to, args, timeLimitMs: 10 * 60_000 });
  };
  await git.init(to, object.length === 64);
  const refspecs = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*", `+${ref}:refs/dl/restored`];
  await git.run({
    gitDir,
    args: ["fetch", "-q", "--no-write-fetch-head", "--no-recurse-submodules", repository, ...refspecs],
    env: { GIT_ALLOW_PROTOCOL: "file" },
    timeLimitMs: 30 * 60_000,
  });
  await run("config", "remote.origin.url", await findForge(git, repository));
  await run("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
  await putHead(git, gitDir, facts, name);

  // The files, byte for byte: no line end, keyword or encoding is converted on the way out, as none was on the way in.
  const attributes = join(gitDir, "info", "attributes");
  await mkdir(dirname(attributes), { recursive: true });
  await writeFile(attributes, "* -text -ident -filter -working-tree-encoding\n");
  await run("read-tree", object);
  await run("checkout-index", "-a", "-f", "-q");
  await rm(attributes);

  if (facts.indexTree !== null) await run("read-tree", facts.indexTree);
  else if (facts.commit !== null) await run("read-tree", facts.commit);
  else await run("read-tree", "--empty");
  await git.run({ gitDir, workTree: to, args: ["update-index", "-q", "--refresh"], exitCodes: [0, 1] });
  await run("update-ref", "-d", "refs/dl/restored");
}

async function putHead(git: Git, gitDir: string, facts: ArchiveFacts, name: string): Promise<void> {
  const { branch, commit } = facts;
  const run = async (...args: string[]): Promise<void> => {
    await git.run({ gitDir, args: [...args] });
  };
  if (branch !== null) await run("symbolic-ref", "HEAD", branch);
  if (commit === null) return;
  const message = `restored from ${name}`;
  if (branch !== null) await run("update-ref", "-m", message, branch, commit);
  else await run("update-ref", "-m", message, "--no-deref", "HEAD", commit);
}

/** Returns where the repository that holds the archive came from, or its own path when it does not say. */
async function findForge(git: Git, repository: string): Promise<string> {
  const { stdout } = await git.run({
    gitDir: repository,
    args: ["config", "--get", "remote.origin.url"],
    exitCodes: [0, 1],
  });
  return stdout.toString("utf8").trim() || repository;
}
