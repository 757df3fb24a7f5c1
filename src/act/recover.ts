import { join } from "node:path";
import { wordsOf } from "../errors.ts";
import type { Tools } from "../scan/tools.ts";
import { deleteTree } from "../system/delete-tree.ts";
import { lockFile } from "../system/flock.ts";
import { recover } from "./quarantine.ts";

/**
 * Finishes or undoes what interrupted runs left in the quarantines below repos_dir: under each repository's lock what was not verified is moved
 * back, and after it what was verified is deleted (SPEC §6.7). Says what it did; returns whether all of it was possible.
 */
export async function recoverAll(
  tools: Tools,
  repositoryDirs: readonly string[],
  say: (text: string) => void,
): Promise<boolean> {
  let isWhole = true;
  const fail = (text: string): void => {
    isWhole = false;
    say(text);
  };
  for (const repositoryDir of repositoryDirs) {
    tools.signal.throwIfAborted();
    const path = join(repositoryDir, ".lock");
    try {
      const lock = await lockFile(path, tools.programs, {
        signal: tools.signal,
        onWait: () => say(`waiting for ${path}, which another process holds`),
      });
      const recovered = await recover(repositoryDir, tools.programs).finally(() => lock.release());
      for (const place of recovered.putBack)
        say(`an earlier run was interrupted: ${place} was moved back to its place`);
      for (const words of recovered.errors) fail(words);
      for (const { entries, done } of recovered.toDelete) {
        try {
          for (const entry of entries) await deleteTree(entry, tools.programs);
        } finally {
          await done();
        }
      }
      if (recovered.toDelete.length > 0)
        say(`an earlier run was interrupted: what it had taken out of ${repositoryDir} is deleted now`);
    } catch (error) {
      tools.signal.throwIfAborted();
      fail(`what an earlier run left in ${repositoryDir} could not be finished: ${wordsOf(error)}`);
    }
  }
  return isWhole;
}
