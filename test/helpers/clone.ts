import { join } from "node:path";
import type { Repository } from "../../fixtures/world.ts";
import type { Clone } from "../../src/model/clone.ts";

/** Returns a clone of a world as the scan finds it. */
export function cloneOf({ clone, directory, owner, repo, workspace, bare }: Repository): Clone {
  return {
    path: clone,
    gitDir: join(clone, ".git"),
    repositoryDir: directory,
    owner,
    repo,
    workspace,
    bare: bare === null ? null : { path: bare, lastFetch: null },
  };
}
