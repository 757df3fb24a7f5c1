import type { Withheld } from "./recheck.ts";

/** What became of a removal root and of all that is in it. `planned`: the pass ended before its turn came. */
export type RemovalOutcome =
  | { readonly kind: "planned" }
  | {
      readonly kind: "removed";
      /** Allocated bytes that were in it when it left. */
      readonly bytes: number;
      /** Place of each worktree that was saved first → the archive's name. */
      readonly archives: ReadonlyMap<string, string>;
    }
  | { readonly kind: "withheld"; readonly worktrees: readonly Withheld[] }
  | { readonly kind: "failed"; readonly words: string };

/** What became of the registrations of a clone. */
export interface MetadataOutcome {
  readonly action: "none" | "pruned" | "held-back";
  /** Places (or ids, where the recorded path is no place) of what git would drop and this pass did not approve. */
  readonly heldBackBy: readonly string[];
  /** Ids of the registrations that are gone. */
  readonly dropped: readonly string[];
  /** Ids of approved registrations that could not be dropped. */
  readonly failed: readonly string[];
  readonly error: string | null;
}

/** What an acting pass did to one clone. Keys of `removals` are the places of removal roots. */
export interface ClonePass {
  readonly removals: ReadonlyMap<string, RemovalOutcome>;
  readonly metadata: MetadataOutcome;
}

/** The registrations of a clone that no pass has touched. */
export const UNTOUCHED: MetadataOutcome = { action: "none", heldBackBy: [], dropped: [], failed: [], error: null };
