import { reason, type Reason } from "../classify/reason.ts";
import type { Class } from "../classify/classify.ts";
import { MAX_NAMED } from "../model/evidence.ts";
import { isBelow } from "../model/place.ts";
import { isSame, registrationId } from "../model/worktree.ts";
import type { PlannedClone, PlannedWorktree, Removal } from "./plan.ts";

/** A worktree that was approved and does not go after all, as it stands now. */
export interface Withheld {
  readonly place: string;
  readonly class: Class;
  readonly reasons: readonly Reason[];
}

export type Recheck =
  | { readonly kind: "go"; readonly removal: Removal }
  | { readonly kind: "withheld"; readonly worktrees: readonly Withheld[] };

/**
 * Holds an approved removal against the same subtree as it is now. What was approved can shrink, never grow: a worktree that appeared, another
 * directory at the same place, a HEAD that moved, or a reason that was not there, withholds the whole removal (SPEC §6.3).
 */
export function recheck(approved: Removal, now: PlannedClone): Recheck {
  const { place } = approved.root.worktree;
  const root = now.worktrees.find(({ worktree }) => worktree.place === place);
  if (root === undefined) {
    return {
      kind: "withheld",
      worktrees: [changed(approved.root, "it is no worktree of this clone at its place any more")],
    };
  }
  const subtree = [root, ...now.worktrees.filter(({ worktree }) => isBelow(worktree.place, place))];
  const objections = new Map<string, string>();
  for (const entry of subtree) {
    const before = approved.subtree.find(({ worktree }) => worktree.place === entry.worktree.place);
    const objection = before === undefined ? "it appeared after the plan" : objectionTo(before, entry);
    if (objection !== null) objections.set(entry.worktree.place, objection);
  }
  if (root.decision === "remove" && objections.size === 0) return { kind: "go", removal: { root, subtree } };
  const objected = [...objections].map(([at, objection]) => `${at}: ${objection}`);
  const why = objected.length > 0 ? objected.join("; ") : `it was to go with ${place}, which stays`;
  return {
    kind: "withheld",
    worktrees: subtree.map((entry) => {
      const objection = objections.get(entry.worktree.place);
      if (objection !== undefined) return changed(entry, objection);
      // What is clear itself stays for what is not: beside it in the subtree, or inside it.
      const reasons =
        entry.decision === "keep" ? entry.reasons : [reason("nested", why, { paths: [...objections.keys()] })];
      return withheld(entry, reasons);
    }),
  };
}

function objectionTo(before: PlannedWorktree, now: PlannedWorktree): string | null {
  if (!isSame(before.worktree.identity, now.worktree.identity))
    return "another directory took its place after the plan";
  if (registrationId(before.worktree.registration) !== registrationId(now.worktree.registration))
    return "its registration changed after the plan";
  if (commitOf(before) !== commitOf(now)) return now.decision === "keep" ? null : "its HEAD moved after the plan";
  const grown =
    now.decision === "remove"
      ? now.reasons.find((given) => !before.reasons.some((one) => covers(one, given)))
      : undefined;
  return grown === undefined ? null : `a reason to stay came up after the plan: ${grown.detail}`;
}

/** Whether leave to go past one reason is leave to go past another: the same code, no further question, no further ignored file. */
function covers(approved: Reason, now: Reason): boolean {
  if (approved.code !== now.code || !now.questions.every((question) => approved.questions.includes(question)))
    return false;
  // Ignored files are not saved: what is lost with them is what was seen.
  if (now.code !== "ignored") return true;
  const areKnown = now.paths.every((path) => approved.paths.includes(path));
  return areKnown && (now.paths.length < MAX_NAMED || now.detail === approved.detail);
}

function commitOf({ evidence: { head } }: PlannedWorktree): string | null {
  return head?.kind === "branch" || head?.kind === "detached" ? head.commit : null;
}

/** The reasons that the worktree has now say why it stays; where it has none, what changed is the reason. */
function changed(entry: PlannedWorktree, objection: string): Withheld {
  if (entry.reasons.length > 0 && entry.decision === "keep") return withheld(entry, entry.reasons);
  return withheld(entry, [
    ...entry.reasons,
    reason("could-not-tell", `since the plan: ${objection}`, { questions: ["registration"] }),
  ]);
}

function withheld(entry: PlannedWorktree, reasons: readonly Reason[]): Withheld {
  return {
    place: entry.worktree.place,
    class: entry.worktree.registration.state === "locked" ? "locked" : reasons.length > 0 ? "held" : entry.class,
    reasons,
  };
}
