import { KnownError } from "../errors.ts";
import type { Git } from "./run.ts";

const OLDEST = [2, 34] as const;

/** Throws a `KnownError` when git is older than 2.34, or when its version cannot be read. */
export async function requireGitVersion(git: Git): Promise<void> {
  let text: string;
  try {
    text = await git.version();
  } catch (error) {
    throw new KnownError(`git could not be started: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isSupported(text)) {
    throw new KnownError(
      `dl needs git ${OLDEST.join(".")} or newer; this machine has "${text}". Install a newer git and run again.`,
    );
  }
}

/** Whether the text of `git version` names a version that dl was measured with. */
export function isSupported(text: string): boolean {
  const match = /^git version (\d+)\.(\d+)/.exec(text);
  if (match === null) return false;
  const [major, minor] = [Number(match[1]), Number(match[2])];
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
