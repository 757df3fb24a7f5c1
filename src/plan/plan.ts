import { classify, classifyStray, classOf, type Class, type Leave } from "../classify/classify.ts";
import { isPassedByForce, mustBeArchived, reason, type Reason } from "../classify/reason.ts";
import { isBelow } from "../model/place.ts";
import type { ScannedClone, ScannedWorktree, StrayRegistration } from "../model/scan.ts";

/** The flags that widen what may go. */
export interface Flags extends Leave {
  readonly force: boolean;
}

export interface PlannedWorktree extends ScannedWorktree {
  readonly class: Class;
  /** Every reason that it stays, or that a forced removal carries it past. */
  readonly reasons: readonly Reason[];
  readonly decision: "remove" | "keep";
  /** It goes, past reasons that `--force-worktrees` passes. */
  readonly forced: boolean;
  /** Place of the outermost worktree of the subtree that goes whole with it; null when it stays. */
  readonly removalRoot: string | null;
}

export interface PlannedStray extends StrayRegistration {
  readonly decision: "drop" | "keep";
  readonly reasons: readonly Reason[];
}

export interface PlannedClone extends Omit<ScannedClone, "worktrees" | "strays"> {
  readonly worktrees: readonly PlannedWorktree[];
  readonly strays: readonly PlannedStray[];
}

/** A subtree that goes whole: its root and all that is nested in it, the root first. */
export interface Removal {
  readonly root: PlannedWorktree;
  readonly subtree: readonly PlannedWorktree[];
}

/** Plans one clone. A subtree goes only when it and everything nested in it may go (SPEC §2, "removal root"). */
export function planClone(scanned: ScannedClone, flags: Flags): PlannedClone {
  const own = new Map(
    scanned.worktrees.map(({ worktree, evidence }) => [worktree.place, classify(worktree, evidence, flags).reasons]),
  );
  const verdicts = new Map([...own.keys()].map((place) => [place, judge(place, own, scanned, flags)]));
  const roots = new Map<string, string>();
  // Parents come before what is nested in them: a worktree's root is its parent's where that goes, else itself.
  for (const { worktree } of scanned.worktrees) {
    if (verdicts.get(worktree.place)?.goes !== true) continue;
    roots.set(worktree.place, (worktree.parent === null ? undefined : roots.get(worktree.parent)) ?? worktree.place);
  }
  return {
    ...scanned,
    worktrees: scanned.worktrees.map((entry) => {
      const { goes, reasons } = verdicts.get(entry.worktree.place) ?? { goes: false, reasons: [] };
      return {
        ...entry,
        class: classOf(entry.worktree.registration, reasons),
        reasons,
        decision: goes ? "remove" : "keep",
        forced: goes && reasons.length > 0,
        removalRoot: roots.get(entry.worktree.place) ?? null,
      };
    }),
    strays: scanned.strays.map((stray) => planStray(stray, scanned, flags)),
  };
}

/** Returns what goes from a clone, one removal a root, in the order of the clone's worktrees. */
export function removalsOf(clone: PlannedClone): Removal[] {
  return clone.worktrees
    .filter(({ worktree, removalRoot }) => removalRoot === worktree.place)
    .map((root) => ({
      root,
      subtree: clone.worktrees.filter(({ removalRoot }) => removalRoot === root.worktree.place),
    }));
}

/** Whether a worktree goes past a reason that asks for its content to be saved first. */
export function needsArchive({ forced, reasons }: PlannedWorktree): boolean {
  return forced && reasons.some(mustBeArchived);
}

interface Judgement {
  readonly goes: boolean;
  readonly reasons: readonly Reason[];
}

function judge(
  place: string,
  verdicts: ReadonlyMap<string, readonly Reason[]>,
  scanned: ScannedClone,
  flags: Flags,
): Judgement {
  const own = verdicts.get(place) ?? [];
  const inside = [
    ...[...verdicts]
      .filter(([other, reasons]) => isBelow(other, place) && !mayGo(reasons, flags))
      .map(([other]) => other),
    ...scanned.skipped.map((other) => other.place).filter((other) => isBelow(other, place)),
  ];
  if (inside.length === 0) return { goes: mayGo(own, flags), reasons: own };
  const nested = reason(
    "nested",
    `${inside.length === 1 ? "one entry" : `${inside.length} entries`} inside it stay${inside.length === 1 ? "s" : ""}: ${inside.join(", ")}`,
    { paths: inside },
  );
  return { goes: false, reasons: [...own, nested] };
}

function mayGo(reasons: readonly Reason[], flags: Flags): boolean {
  return reasons.length === 0 || (flags.force && reasons.every(isPassedByForce));
}

/** A registration without a directory goes when all that dies with it is safe; a lock alone is passed by the flag (SPEC §6.6). */
function planStray(stray: StrayRegistration, scanned: ScannedClone, flags: Flags): PlannedStray {
  const reasons =
    scanned.error === null
      ? classifyStray(stray)
      : [reason("could-not-tell", scanned.error, { questions: ["registration"] })];
  const mayDrop = reasons.every(({ code }) => flags.force && code === "locked");
  return { ...stray, reasons, decision: mayDrop ? "drop" : "keep" };
}
