import type { MetadataOutcome } from "./pass.ts";

/** A registration that is still there after a pass, and that `git worktree prune` would drop. */
export interface WouldBeDropped {
  /** Its place in the clone, or its id where its recorded path is none. */
  readonly name: string;
}

/**
 * Says what a pass did to the registrations of a clone. `git worktree prune` drops every one whose recorded path is not there, approved or not
 * (GIT-FACTS fact 0.1), so that it may only stand for this pass when what it would still drop is nothing: then what was dropped by name is just
 * what it would have dropped. Anything left holds it back. Computed from what is there afterwards, never from the plan (SPEC §6.6).
 */
export function holdback(
  dropped: readonly string[],
  failed: readonly string[],
  left: readonly WouldBeDropped[],
  error: string | null,
): MetadataOutcome {
  const heldBackBy = left.map(({ name }) => name);
  const action = dropped.length === 0 ? "none" : heldBackBy.length === 0 && error === null ? "pruned" : "held-back";
  return { action, heldBackBy: action === "held-back" ? heldBackBy : [], dropped, failed, error };
}
