import { join } from "node:path";
import type { World } from "../../fixtures/world.ts";
import { PrivateGitDir } from "../../src/git/private-git-dir.ts";
import type { Tools } from "../../src/scan/tools.ts";

/** Makes the private git directory of a worktree as the scan does: at its HEAD, with a copy of its index. */
export function privateGitDirOf(world: World, tools: Tools, worktree: string): Promise<PrivateGitDir> {
  const commit = world.git(worktree, "rev-parse", "HEAD").trim();
  return PrivateGitDir.create(tools.temporary, {
    commit,
    objects: [join(world.repositoryOf(worktree).clone, ".git/objects")],
    indexOf: world.adminDirectory(worktree),
    sha256: commit.length === 64,
  });
}
