import type { BaseContext } from "clipanion";
import { wordsOf } from "../errors.ts";
import { readCommitDates } from "../git/commit-dates.ts";
import { planClone, type PlannedClone, type PlannedWorktree } from "../plan/plan.ts";
import type { DiskEntry, LsDocument, LsWorktreeNote } from "../report/documents.ts";
import { lsDocument, type ListedClone } from "../report/ls-document.ts";
import { renderLs } from "../report/ls-text.ts";
import { harmless, jsonText, plural, size } from "../report/plain-text.ts";
import { overviewOf, weighClone, type CloneOverview, type Weighed } from "../scan/clone-overview.ts";
import { findClones, openReposDir, type Found } from "../scan/clones.ts";
import { scanWorld, surveySurroundings } from "../scan/scan.ts";
import type { Tools } from "../scan/tools.ts";
import { mapConcurrently } from "../system/concurrency.ts";
import { Weight } from "../system/tree-facts.ts";
import { Progress } from "./progress.ts";
import { withSession, write } from "./session.ts";
import { makeView } from "./view.ts";

/** How many clones are walked at a time. */
const AT_A_TIME = 4;
const NO_FLAGS = { force: false, discardIgnored: false };

/** The options of `dl --ls`. */
export interface LsOptions {
  readonly json: boolean;
  readonly size: boolean;
  readonly worktrees: boolean;
}

/** One run of `dl --ls`: find, scan where worktrees are asked for, measure where sizes are, list. */
export class LsRun {
  readonly #context: BaseContext;
  readonly #options: LsOptions;
  readonly #reposDirPath: string;

  constructor(context: BaseContext, options: LsOptions, reposDirPath: string) {
    this.#context = context;
    this.#options = options;
    this.#reposDirPath = reposDirPath;
  }

  /** Returns the exit code. Throws a `KnownError` for what the person can mend. */
  async run(): Promise<number> {
    const reposDir = await openReposDir(this.#reposDirPath);
    if (reposDir === null) return this.#print(lsDocument(this.#reposDirPath, [], this.#options.size), new Map(), 0);
    return withSession(this.#context, reposDir, async ({ tools }) => {
      const found = await findClones(reposDir);
      for (const { path, words } of found.unreadable)
        this.#context.stderr.write(`dl: ${harmless(path)} could not be read: ${harmless(words)}\n`);
      const progress = new Progress(this.#context.stderr);
      const weighed = new Map<string, Weight | null>();
      const planned = this.#options.worktrees
        ? await plan(tools, found, weighed, progress)
        : new Map<string, PlannedClone>();
      const listed = await this.#list(tools, found, planned, weighed, progress);
      const notes = await notesOf(tools, [...planned.values()]);
      progress.clear();
      const document = lsDocument(reposDir, listed, this.#options.size);
      const hasFailed = found.unreadable.length > 0 || document.clones.some(({ error }) => error !== null);
      return this.#print(document, notes, hasFailed ? 1 : 0);
    });
  }

  #list(
    tools: Tools,
    found: Found,
    planned: ReadonlyMap<string, PlannedClone>,
    weighed: Weighed,
    progress: Progress,
  ): Promise<ListedClone[]> {
    let done = 0;
    let bytes = 0;
    return mapConcurrently(found.clones, AT_A_TIME, async (clone): Promise<ListedClone> => {
      tools.signal.throwIfAborted();
      const overview = await overviewOf(clone);
      const measured = this.#options.size
        ? await measure(tools, overview, weighed, (more) => {
            bytes += more;
            progress.show(`measured ${done} of ${plural(found.clones.length, "clone")}, ${size(bytes)}`);
          })
        : NOT_MEASURED;
      done++;
      const plannedClone = planned.get(clone.path);
      return {
        ...overview,
        disk: measured.disk,
        worktreesDisk: measured.worktreesDisk,
        error: plannedClone?.error ?? overview.error ?? measured.error,
        worktrees: this.#options.worktrees ? (plannedClone?.worktrees ?? []) : null,
      };
    });
  }

  async #print(document: LsDocument, notes: ReadonlyMap<string, LsWorktreeNote>, exitCode: number): Promise<number> {
    const view = makeView(this.#context, { verbose: false, flags: NO_FLAGS });
    await write(this.#context.stdout, this.#options.json ? jsonText(document) : renderLs(document, notes, view));
    return exitCode;
  }
}

interface Measured {
  readonly disk: DiskEntry | null;
  readonly worktreesDisk: DiskEntry | null;
  readonly error: string | null;
}

const NOT_MEASURED: Measured = { disk: null, worktreesDisk: null, error: null };

async function measure(
  tools: Tools,
  { clone }: CloneOverview,
  weighed: Weighed,
  onBytes: (bytes: number) => void,
): Promise<Measured> {
  try {
    const { own, worktrees } = await weighClone(tools, clone, weighed, onBytes);
    const worktreesDisk = diskEntry(worktrees ?? new Weight());
    if (worktrees !== null) own.add(worktrees);
    return { disk: diskEntry(own), worktreesDisk, error: null };
  } catch (error) {
    tools.signal.throwIfAborted();
    return { ...NOT_MEASURED, error: wordsOf(error) };
  }
}

function diskEntry(weight: Weight): DiskEntry {
  return { bytes: weight.bytes, isFloor: weight.isFloor, unreadable: weight.unreadable };
}

/** Puts every worktree to its questions, and notes in `weighed` what was weighed with that. */
async function plan(
  tools: Tools,
  found: Found,
  weighed: Map<string, Weight | null>,
  progress: Progress,
): Promise<Map<string, PlannedClone>> {
  let done = 0;
  const scanned = await scanWorld(tools, found.clones, await surveySurroundings(tools), {
    onClone: () => {},
    onWorktree: (directory, weight) => {
      weighed.set(directory, weight);
      progress.show(`looked at ${plural(++done, "worktree")}`);
    },
  });
  return new Map(scanned.map((clone) => [clone.clone.path, planClone(clone, NO_FLAGS)]));
}

async function notesOf(tools: Tools, clones: readonly PlannedClone[]): Promise<Map<string, LsWorktreeNote>> {
  const notes = new Map<string, LsWorktreeNote>();
  for (const { clone, worktrees } of clones) {
    const commits = worktrees.flatMap((one) => commitOf(one) ?? []);
    // A date is a nicety: where git cannot say one, the line is shown without.
    const dates = await readCommitDates(tools.git, clone.gitDir, commits).catch(() => new Map<string, Date>());
    for (const one of worktrees) {
      const { head } = one.evidence;
      notes.set(`${clone.path}/${one.worktree.place}`, {
        branch: head?.kind === "branch" || head?.kind === "unborn" ? head.ref.replace(/^refs\/heads\//, "") : null,
        committedAt: dates.get(commitOf(one) ?? "") ?? null,
        reason: one.reasons[0] ?? null,
      });
    }
  }
  return notes;
}

function commitOf({ evidence: { head } }: PlannedWorktree): string | null {
  return head?.kind === "branch" || head?.kind === "detached" ? head.commit : null;
}
