import { splitLines, type Git } from "./run.ts";

/** Returns when each of these commits was made; those that are not there are left out. Throws a `GitError` when git cannot say. */
export async function readCommitDates(
  git: Git,
  gitDir: string,
  commits: readonly string[],
): Promise<Map<string, Date>> {
  if (commits.length === 0) return new Map();
  const { stdout } = await git.run({
    gitDir,
    args: ["rev-list", "--no-walk=unsorted", "--ignore-missing", "--no-commit-header", "--format=%H %ct", "--stdin"],
    input: commits.map((commit) => `${commit}\n`).join(""),
  });
  return new Map(
    splitLines(stdout).map((line) => {
      const [commit = "", seconds = ""] = line.split(" ");
      return [commit, new Date(Number(seconds) * 1000)];
    }),
  );
}
