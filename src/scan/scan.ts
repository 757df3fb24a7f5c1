import { wordsOf } from "../errors.ts";
import { readAdminDirectories } from "../git/admin-directory.ts";
import { readBranches } from "../git/refs.ts";
import type { Clone } from "../model/clone.ts";
import { unanswered, type Answer } from "../model/evidence.ts";
import { isBelow } from "../model/place.ts";
import type { ScannedClone, ScannedWorktree, Size } from "../model/scan.ts";
import type { AdminRecord } from "../model/worktree.ts";
import { mapConcurrently } from "../system/concurrency.ts";
import { readMountPoints } from "../system/mounts.ts";
import { lstatOrNull } from "../system/small-file.ts";
import { surveyOccupants, type OccupantSurvey } from "../system/occupants.ts";
import { withinTime } from "../system/time-limit.ts";
import { Weight } from "../system/tree-facts.ts";
import { completeEvidence, gatherEvidence, type Gathered, type Ground } from "./evidence.ts";
import { ask } from "./questions/ask.ts";
import { askUnpushed } from "./questions/unpushed.ts";
import { decideRegistrations } from "./registrations.ts";
import { gatherStrays, type GatheredStray } from "./strays.ts";
import type { Tools } from "./tools.ts";
import { listWorktrees, type Listing, type Start } from "./worktrees.ts";

/** How many clones, and repositories, are drafted at a time; how many worktrees are looked at is one limit over all of them. */
const AT_A_TIME = 8;

/** How far a scan has come; called often. */
export interface ScanProgress {
  readonly onClone: (worktrees: number) => void;
  /** A worktree was looked at. Its weight is that of what lies in it and in no worktree nested in it; null when it could not be walked. */
  readonly onWorktree: (directory: string, weight: Weight | null) => void;
}

/** What a whole run reads once: processes and mounts. */
export interface Surroundings {
  readonly occupants: Answer<OccupantSurvey>;
  readonly mounts: Answer<readonly string[]>;
}

/** Looks at the processes and the mount table of this machine. */
export async function surveySurroundings(tools: Tools): Promise<Surroundings> {
  return {
    occupants: await ask(() =>
      withinTime(surveyOccupants({ programs: tools.programs, reposDir: tools.reposDir }), "looking at the processes"),
    ),
    mounts: await ask(() => withinTime(readMountPoints(tools.programs), "reading the mount table")),
  };
}

/** Where a subtree lies that is looked at again: in the clone still, or in quarantine, its admin directories with it. */
export interface Subtree {
  readonly place: string;
  readonly parent: string | null;
  readonly directory: string;
}

/**
 * Scans whole clones of one repository: lists their worktrees, skipped entries and registrations without a directory, and puts every question to
 * each. Clones with nothing in their worktrees places and no stray registration are left out.
 */
export async function scanClones(
  tools: Tools,
  clones: readonly Clone[],
  around: Surroundings,
  progress: ScanProgress,
): Promise<ScannedClone[]> {
  const drafts = await mapConcurrently(clones, AT_A_TIME, (clone) =>
    draftClone(tools, clone, around, [{ kind: "clone" }], [`${clone.gitDir}/worktrees`], progress),
  );
  return complete(
    tools,
    drafts.filter((draft) => draft !== null),
  );
}

/** Scans subtrees of one clone again, by the same code: what their places hold now, or what was moved out of them. */
export async function scanSubtrees(
  tools: Tools,
  clone: Clone,
  around: Surroundings,
  subtrees: readonly Subtree[],
  adminRoots: readonly string[],
): Promise<ScannedClone> {
  const starts = subtrees.map((subtree): Start => ({ kind: "subtree", ...subtree }));
  const draft = await draftClone(tools, clone, around, starts, adminRoots, UNSEEN);
  const [scanned] = draft === null ? [] : await complete(tools, [draft]);
  return scanned ?? { clone, error: null, worktrees: [], skipped: [], strays: [] };
}

/** Scans a clone's registrations without a directory again; what is in its worktrees is not looked at. */
export async function scanStrays(tools: Tools, clone: Clone, around: Surroundings): Promise<ScannedClone> {
  const draft = await draftClone(
    tools,
    clone,
    around,
    [{ kind: "clone" }],
    [`${clone.gitDir}/worktrees`],
    UNSEEN,
    false,
  );
  const [scanned] = draft === null ? [] : await complete(tools, [draft]);
  return scanned ?? { clone, error: null, worktrees: [], skipped: [], strays: [] };
}

const UNSEEN: ScanProgress = { onClone: () => {}, onWorktree: () => {} };

interface Draft {
  readonly clone: Clone;
  readonly error: string | null;
  readonly listing: Listing;
  readonly gathered: readonly Gathered[];
  readonly strays: readonly GatheredStray[];
}

async function draftClone(
  tools: Tools,
  clone: Clone,
  around: Surroundings,
  starts: readonly Start[],
  adminRoots: readonly string[],
  progress: ScanProgress,
  withWorktrees = true,
): Promise<Draft | null> {
  const errors = [...(await findForeignParts(clone))];
  const records: AdminRecord[] = [];
  for (const root of adminRoots) {
    const listed = await readAdminDirectories(root);
    if (listed.kind === "listed") records.push(...listed.records);
    else errors.push(listed.words);
  }
  const registrations = await decideRegistrations(clone, records);
  const worktrees: Listing["worktrees"][number][] = [];
  const skipped: Listing["skipped"][number][] = [];
  for (const start of starts) {
    try {
      const listed = await listWorktrees(clone, registrations, start);
      worktrees.push(...listed.worktrees);
      skipped.push(...listed.skipped);
    } catch (error) {
      errors.push(wordsOf(error));
    }
  }
  // Where a part of the clone could not be read, no registration is known to be the right one, nor to be missing.
  const listing = {
    worktrees: worktrees.map((one) => (errors[0] === undefined ? one : { ...one, misfit: errors[0] })),
    skipped,
  };
  if (worktrees.length + skipped.length + records.length + errors.length === 0) return null;
  progress.onClone(worktrees.length);

  const isWhole = starts.some(({ kind }) => kind === "clone");
  const branches =
    errors.length > 0 ? unanswered(errors[0] ?? "") : await ask(() => readBranches(tools.git, clone.gitDir));
  if (branches.kind === "unanswered" && errors.length === 0) errors.push(branches.words);
  const ground: Ground = { clone, branches, ...around };
  const gathered = withWorktrees ? await gatherEvidence(tools, ground, listing, progress.onWorktree) : [];
  const strays = isWhole ? await gatherStrays(tools, ground, registrations, listing) : [];
  if (isWhole && worktrees.length + skipped.length + strays.length + errors.length === 0) return null;
  return { clone, error: errors.length === 0 ? null : errors.join("; "), listing, gathered, strays };
}

/** Parts of a git directory that must be its own: a link or a `commondir` has git read, prune or write another repository (GIT-FACTS fact 0.2). */
async function findForeignParts(clone: Clone): Promise<string[]> {
  try {
    if ((await lstatOrNull(`${clone.gitDir}/commondir`)) !== null)
      return [`${clone.gitDir} has a commondir file: it is not a repository of its own`];
    for (const part of ["objects", "refs", "worktrees"]) {
      const stats = await lstatOrNull(`${clone.gitDir}/${part}`);
      if (stats !== null && !stats.isDirectory()) return [`${clone.gitDir}/${part} is a link or no directory`];
    }
    return [];
  } catch (error) {
    return [wordsOf(error)];
  }
}

/** Asks for the commits of all drafts at once, the bare first, and puts the evidence together. */
async function complete(tools: Tools, drafts: readonly Draft[]): Promise<ScannedClone[]> {
  const asked = drafts.flatMap(({ gathered, strays }) => [...gathered, ...strays].map(({ commits }) => commits));
  const answers = (await askUnpushed(tools, drafts[0]?.clone.bare ?? null, asked)).values();
  const next = () => answers.next().value ?? unanswered("git gave no answer");
  return drafts.map(({ clone, error, listing, gathered, strays }) => {
    const sizes = sizesOf(gathered);
    return {
      clone,
      error,
      worktrees: gathered.map((one): ScannedWorktree => ({
        worktree: one.worktree,
        evidence: completeEvidence(one, next()),
        size: sizes.get(one.worktree.place) ?? null,
      })),
      skipped: listing.skipped,
      strays: strays.map(({ registration, place, head, answers: given }) => ({
        registration,
        place,
        head,
        answers: { ...given, unpushed: next() },
      })),
    };
  });
}

/** Adds up each worktree's subtree from disjoint parts, so that every file was looked at once. */
function sizesOf(gathered: readonly Gathered[]): Map<string, Size> {
  const sizes = new Map<string, Size>();
  for (const { worktree, weight } of gathered) {
    const nested = gathered.filter((other) => isBelow(other.worktree.place, worktree.place));
    const parts = [weight, ...nested.map((other) => other.weight)];
    if (parts.includes(null)) continue;
    if (nested.length === 0 && weight !== null) {
      sizes.set(worktree.place, { bytes: weight.bytes, isFloor: weight.isFloor });
      continue;
    }
    const total = new Weight();
    for (const part of parts) if (part !== null) total.add(part);
    sizes.set(worktree.place, { bytes: total.bytes, isFloor: total.isFloor });
  }
  return sizes;
}

/** Scans every clone, repository by repository. */
export async function scanWorld(
  tools: Tools,
  clones: readonly Clone[],
  around: Surroundings,
  progress: ScanProgress,
): Promise<ScannedClone[]> {
  const repositories = new Map<string, Clone[]>();
  for (const clone of clones)
    repositories.set(clone.repositoryDir, [...(repositories.get(clone.repositoryDir) ?? []), clone]);
  const scanned = await mapConcurrently([...repositories.values()], AT_A_TIME, (siblings) =>
    scanClones(tools, siblings, around, progress),
  );
  return scanned.flat();
}
