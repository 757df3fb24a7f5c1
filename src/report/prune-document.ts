import type { Reason } from "../classify/reason.ts";
import type { Head, Registration } from "../model/worktree.ts";
import type { ClonePass, RemovalOutcome } from "../plan/pass.ts";
import { UNTOUCHED } from "../plan/pass.ts";
import type { PlannedClone, PlannedStray, PlannedWorktree } from "../plan/plan.ts";
import type {
  CloneEntry,
  HeadEntry,
  PruneDocument,
  ReasonEntry,
  StrayRegistrationEntry,
  WorktreeEntry,
} from "./documents.ts";

/** What a prune document is made of. `passes` has one entry a clone, in their order; null before anything was done. */
export interface PruneFacts {
  readonly mode: PruneDocument["mode"];
  readonly reposDir: string;
  readonly clones: readonly PlannedClone[];
  readonly passes: readonly ClonePass[] | null;
}

/** Makes the JSON document of a prune: the plan, and what became of it. */
export function pruneDocument({ mode, reposDir, clones, passes }: PruneFacts): PruneDocument {
  const entries = clones.map((clone, i) => cloneEntry(clone, passes?.[i] ?? null));
  const worktrees = entries.flatMap((entry) => entry.worktrees);
  const planned = clones.flatMap((clone) => clone.worktrees.filter(({ decision }) => decision === "remove"));
  const ofClass = (name: string): number => worktrees.filter((entry) => entry.class === name).length;
  const withOutcome = (name: string): number => worktrees.filter(({ outcome }) => outcome === name).length;
  return {
    schemaVersion: 1,
    command: "prune",
    mode,
    reposDir,
    clones: entries,
    totals: {
      worktrees: worktrees.length,
      forgotten: ofClass("forgotten"),
      prunable: ofClass("prunable"),
      locked: ofClass("locked"),
      held: ofClass("held"),
      skipped: entries.reduce((sum, { skipped }) => sum + skipped.length, 0),
      toRemove: planned.length,
      toRemoveBytes: planned.reduce(
        (sum, { worktree, removalRoot, size }) => sum + (removalRoot === worktree.place ? (size?.bytes ?? 0) : 0),
        0,
      ),
      removed: withOutcome("removed"),
      freedBytes: (passes ?? [])
        .flatMap(({ removals }) => [...removals.values()])
        .reduce((sum, outcome) => sum + freed(outcome), 0),
      withheld: withOutcome("withheld"),
      failed: withOutcome("failed"),
    },
  };
}

/** Whether something that was planned did not happen, or a repository could not be read: exit code 1 (SPEC §3). */
export function hasFailed({ clones }: PruneDocument): boolean {
  return clones.some(
    ({ error, worktrees, registrationsWithoutDirectory, metadata }) =>
      error !== null ||
      metadata.error !== null ||
      worktrees.some(({ outcome }) => outcome === "failed") ||
      registrationsWithoutDirectory.some(({ outcome }) => outcome === "failed"),
  );
}

/** Whether a plan asks for anything to be done. */
export function hasWork({ clones }: PruneDocument): boolean {
  return clones.some(
    ({ worktrees, registrationsWithoutDirectory }) =>
      worktrees.some(({ decision }) => decision === "remove") ||
      registrationsWithoutDirectory.some(({ decision }) => decision === "drop"),
  );
}

function freed(outcome: RemovalOutcome): number {
  return outcome.kind === "removed" ? outcome.bytes : 0;
}

function cloneEntry(planned: PlannedClone, pass: ClonePass | null): CloneEntry {
  const { clone } = planned;
  const metadata = pass?.metadata ?? UNTOUCHED;
  return {
    path: clone.path,
    owner: clone.owner,
    repo: clone.repo,
    workspace: clone.workspace,
    bare:
      clone.bare === null ? null : { path: clone.bare.path, lastFetch: clone.bare.lastFetch?.toISOString() ?? null },
    error: planned.error,
    worktrees: planned.worktrees.map((entry) => worktreeEntry(entry, pass)),
    skipped: planned.skipped.map(({ place, code, detail }) => ({ path: place, code, detail })),
    registrationsWithoutDirectory: planned.strays.map((stray) => strayEntry(stray, pass)),
    metadata: {
      action: metadata.action,
      heldBackBy: metadata.heldBackBy,
      dropped: metadata.dropped,
      error: metadata.error,
    },
  };
}

function worktreeEntry(planned: PlannedWorktree, pass: ClonePass | null): WorktreeEntry {
  const { worktree, evidence, removalRoot } = planned;
  const outcome = removalRoot === null ? null : (pass?.removals.get(removalRoot) ?? null);
  const now =
    outcome?.kind === "withheld" ? outcome.worktrees.find(({ place }) => place === worktree.place) : undefined;
  const archive = outcome?.kind === "removed" ? outcome.archives.get(worktree.place) : undefined;
  return {
    path: worktree.place,
    class: now?.class ?? planned.class,
    registration: registrationEntry(worktree.registration),
    head: worktree.registration.state === "none" || evidence.head === null ? null : headEntry(evidence.head),
    parent: worktree.parent,
    decision: planned.decision,
    forced: planned.forced,
    reasons: (now?.reasons ?? planned.reasons).map((reason) => reasonEntry(reason, archive)),
    removalRoot,
    bytes: planned.size?.bytes ?? null,
    bytesAreFloor: planned.size?.isFloor ?? true,
    outcome: outcomeName(planned, outcome),
    error: outcome?.kind === "failed" ? outcome.words : null,
  };
}

function outcomeName(planned: PlannedWorktree, outcome: RemovalOutcome | null): WorktreeEntry["outcome"] {
  if (planned.decision === "keep") return "kept";
  return outcome?.kind ?? "planned";
}

function registrationEntry(registration: Registration): WorktreeEntry["registration"] {
  switch (registration.state) {
    case "none":
      return { state: "none", id: null, recordedPath: null, lockReason: null };
    case "unreadable":
      return { state: null, id: registration.id, recordedPath: null, lockReason: null };
    case "prunable":
    case "live":
      return {
        state: registration.state,
        id: registration.admin.id,
        recordedPath: registration.admin.recordedPath,
        lockReason: null,
      };
    case "locked":
      return {
        state: "locked",
        id: registration.admin.id,
        recordedPath: registration.admin.recordedPath,
        lockReason: registration.lockReason,
      };
  }
}

function headEntry(head: Head): HeadEntry {
  switch (head.kind) {
    case "branch":
      return { branch: head.ref, commit: head.commit };
    case "detached":
      return { branch: null, commit: head.commit };
    case "unborn":
      return { branch: head.ref, commit: null };
    case "broken":
      return { branch: null, commit: null };
  }
}

function reasonEntry({ code, detail, paths, commits }: Reason, archive?: string): ReasonEntry {
  return { code, detail: archive === undefined ? detail : `${detail}; saved as ${archive}`, paths, commits };
}

function strayEntry(stray: PlannedStray, pass: ClonePass | null): StrayRegistrationEntry {
  const { registration, head, decision, reasons } = stray;
  const entry = registrationEntry(registration);
  return {
    id: entry.id ?? "",
    recordedPath: entry.recordedPath,
    head: head === null ? null : headEntry(head),
    decision,
    reasons: reasons.map((reason) => reasonEntry(reason)),
    outcome: strayOutcome(entry.id, decision, pass),
  };
}

function strayOutcome(
  id: string | null,
  decision: PlannedStray["decision"],
  pass: ClonePass | null,
): StrayRegistrationEntry["outcome"] {
  if (decision === "keep" || id === null) return "kept";
  if (pass === null) return "planned";
  if (pass.metadata.dropped.includes(id)) return "dropped";
  return pass.metadata.failed.includes(id) ? "failed" : "kept";
}
