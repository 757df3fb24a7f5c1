/** A worktrees place: the directory of a clone, or of a worktree in it, that holds agents' worktrees (SPEC §2). */
export const WORKTREES_PLACE = ".claude/worktrees";

/** Returns the place, relative to the clone, of the entry `name` in the worktrees place of `parent` (null: of the clone). */
export function placeIn(parent: string | null, name: string): string {
  return parent === null ? `${WORKTREES_PLACE}/${name}` : `${parent}/${WORKTREES_PLACE}/${name}`;
}

/** Whether `place` lies strictly below `outer`. */
export function isBelow(place: string, outer: string): boolean {
  return place.startsWith(`${outer}/`);
}

/** Whether `place` has the form of a worktree's place: `.claude/worktrees/<name>`, nested to any depth, and nothing else. */
export function isWorktreePlace(place: string): boolean {
  const parts = place.split("/");
  if (parts.length % 3 !== 0) return false;
  for (let i = 0; i < parts.length; i += 3) {
    const name = parts[i + 2];
    if (parts[i] !== ".claude" || parts[i + 1] !== "worktrees" || !isEntryName(name)) return false;
  }
  return true;
}

/**
 * Splits a recorded path at its first worktrees place: `/workspaces/ws/.claude/worktrees/a1` → prefix and place.
 * Returns null for a path that has none. The path is text: it is never resolved.
 */
export function splitAtPlace(recordedPath: string): { readonly prefix: string; readonly place: string } | null {
  const at = recordedPath.indexOf(`/${WORKTREES_PLACE}/`);
  if (at < 0) return null;
  const place = recordedPath.slice(at + 1);
  return isWorktreePlace(place) ? { prefix: recordedPath.slice(0, at), place } : null;
}

function isEntryName(name: string | undefined): boolean {
  return name !== undefined && name !== "" && name !== "." && name !== "..";
}
