import type { Stats } from "node:fs";

/** Whether a file belongs to the user that this program runs as. */
export function isOwn(stats: Pick<Stats, "uid">): boolean {
  const user = process.geteuid?.();
  return user === undefined || stats.uid === user;
}
