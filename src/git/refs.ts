import { splitLines, type Git } from "./run.ts";

/** Returns the branch tips of a repository: `refs/heads/…` → commit. Throws a `GitError` when git cannot read the repository. */
export async function readBranches(git: Git, gitDir: string): Promise<Map<string, string>> {
  const { stdout } = await git.run({
    gitDir,
    args: ["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"],
  });
  return new Map(
    splitLines(stdout).map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]),
  );
}

/** Returns the full name of the branch that a symbolic ref names, or null when it names none. */
export async function readSymbolicRef(git: Git, gitDir: string, name: string): Promise<string | null> {
  const { exitCode, stdout } = await git.run({ gitDir, args: ["symbolic-ref", "-q", name], exitCodes: [0, 1] });
  return exitCode === 0 ? stdout.toString("utf8").trim() : null;
}

/**
 * Returns the full name of the clone's local default branch, or null where it has none. Found, never assumed (SPEC §2): the bare's HEAD,
 * else origin/HEAD, else `init.defaultBranch` where that branch exists, else whichever of main and master exists alone.
 */
export async function findDefaultBranch(
  git: Git,
  clone: { readonly gitDir: string; readonly bare: { readonly path: string } | null },
  branches: ReadonlyMap<string, string>,
  usersDefaultBranch: () => Promise<string | null>,
): Promise<string | null> {
  const existing = (ref: string): string | null => (branches.has(ref) ? ref : null);
  if (clone.bare !== null) {
    const head = await readSymbolicRef(git, clone.bare.path, "HEAD");
    if (head !== null) return existing(head);
  }
  const origin = await readSymbolicRef(git, clone.gitDir, "refs/remotes/origin/HEAD");
  if (origin?.startsWith("refs/remotes/origin/"))
    return existing(`refs/heads/${origin.slice("refs/remotes/origin/".length)}`);
  const users = await usersDefaultBranch();
  if (users !== null && branches.has(`refs/heads/${users}`)) return `refs/heads/${users}`;
  const candidates = ["refs/heads/main", "refs/heads/master"].filter((ref) => branches.has(ref));
  return candidates.length === 1 ? (candidates[0] ?? null) : null;
}
