import type { BaseContext } from "clipanion";
import { randomUUID } from "node:crypto";
import { act } from "../act/act.ts";
import { recoverAll } from "../act/recover.ts";
import { planClone, type Flags, type PlannedClone } from "../plan/plan.ts";
import type { ClonePass } from "../plan/pass.ts";
import type { PruneDocument, PruneNotes } from "../report/documents.ts";
import { harmless, jsonText, plural, size } from "../report/plain-text.ts";
import { hasFailed, hasWork, pruneDocument } from "../report/prune-document.ts";
import { renderPlan, renderReport } from "../report/prune-text.ts";
import { findClones, openReposDir, type Found } from "../scan/clones.ts";
import { scanWorld, surveySurroundings, type Surroundings } from "../scan/scan.ts";
import { freeSpace } from "../system/free-space.ts";
import { requireFlock } from "../system/flock.ts";
import { askLine, isYes } from "./confirm.ts";
import { Progress } from "./progress.ts";
import { withSession, write, type Session } from "./session.ts";
import { makeView } from "./view.ts";

/** The options of `dl --prune`. */
export interface PruneOptions {
  readonly json: boolean;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly discardIgnored: boolean;
  readonly verbose: boolean;
}

/** One run of `dl --prune`, a line a stage: recover, find, scan, plan, ask, act, report. */
export class PruneRun {
  readonly #context: BaseContext;
  readonly #options: PruneOptions;
  readonly #reposDirPath: string;

  constructor(context: BaseContext, options: PruneOptions, reposDirPath: string) {
    this.#context = context;
    this.#options = options;
    this.#reposDirPath = reposDirPath;
  }

  /** Returns the exit code. Throws a `KnownError` for what the person can mend. */
  async run(): Promise<number> {
    const reposDir = await openReposDir(this.#reposDirPath);
    if (reposDir === null) return this.#finish(this.#document(this.#reposDirPath, [], null), NO_NOTES, 0);
    return withSession(this.#context, reposDir, (session) => this.#runIn(session));
  }

  async #runIn(session: Session): Promise<number> {
    const { tools } = session;
    const flags: Flags = { force: this.#options.force, discardIgnored: this.#options.discardIgnored };
    const progress = new Progress(this.#context.stderr);
    const say = (text: string): void => {
      progress.clear();
      this.#context.stderr.write(`dl: ${harmless(text)}\n`);
    };
    if (!this.#options.dryRun) requireFlock(tools.programs);

    // What an interrupted run left is finished or undone before anything is looked at.
    const found = await findClones(tools.reposDir);
    for (const { path, words } of found.unreadable) say(`${path} could not be read: ${words}`);
    const recoveredAll = this.#options.dryRun || (await recoverAll(tools, found.quarantined, say));
    const failed = found.unreadable.length > 0 || !recoveredAll;

    const around = await surveySurroundings(tools);
    const planned = await this.#plan(session, found, around, flags, progress);
    const notes = notesOf(around, planned, null);
    const document = this.#document(tools.reposDir, planned, null);
    if (this.#options.dryRun || !hasWork(document))
      return this.#finish(document, notes, failed || hasFailed(document) ? 1 : 0);

    // A person who is asked sees the plan first; with --json that is on standard error, since standard output holds one document.
    const view = makeView(this.#context, { verbose: this.#options.verbose, flags });
    await write(
      this.#options.json ? this.#context.stderr : this.#context.stdout,
      this.#options.json && this.#options.yes ? "" : renderPlan(document, view),
    );
    if (!this.#options.yes) {
      const answer = await askLine(question(document), this.#context.stdin, this.#context.stderr, tools.signal);
      const declined = { ...document, mode: "declined" } as const;
      if (answer === null) {
        this.#context.stderr.write("\ndl: no answer could be read, so nothing was removed; -y skips the question.\n");
        return this.#finish(declined, notes, 1);
      }
      if (!isYes(answer)) return this.#finish(declined, notes, failed || hasFailed(document) ? 1 : 0);
    }

    let done = 0;
    let freed = 0;
    const { toRemove, toRemoveBytes } = document.totals;
    let hasProblem = false;
    const spaceBefore = await freeSpace(tools.reposDir);
    const passes = await act(tools, planned, flags, randomUUID(), {
      onWaiting: (lock) => say(`waiting for ${lock}, which another process holds`),
      onDeleting: (place) =>
        progress.show(
          `removed ${done} of ${plural(toRemove, "worktree")}, ${size(freed)} of ${size(toRemoveBytes)}; deleting ${place}`,
        ),
      onProblem: (words) => {
        hasProblem = true;
        say(words);
      },
      onRemoved: (bytes) => {
        done++;
        freed += bytes;
      },
    });
    progress.clear();
    const report = this.#document(tools.reposDir, planned, passes);
    const interrupted = session.interrupted();
    const wasCut = tools.signal.aborted;
    return this.#finish(
      report,
      notesOf(around, planned, passes, change(spaceBefore, await freeSpace(tools.reposDir))),
      interrupted ?? (failed || hasProblem || wasCut || hasFailed(report) ? 1 : 0),
      true,
    );
  }

  async #plan(
    session: Session,
    found: Found,
    around: Surroundings,
    flags: Flags,
    progress: Progress,
  ): Promise<PlannedClone[]> {
    let worktrees = 0;
    let done = 0;
    let bytes = 0;
    const clones = plural(found.clones.length, "clone");
    const show = (): void =>
      progress.show(`looked at ${done} of ${plural(worktrees, "worktree")} in ${clones}, ${size(bytes)}`);
    const scanned = await scanWorld(session.tools, found.clones, around, {
      onClone: (count) => {
        worktrees += count;
        show();
      },
      onWorktree: (_, weight) => {
        done++;
        bytes += weight?.bytes ?? 0;
        show();
      },
    });
    session.tools.signal.throwIfAborted();
    progress.clear();
    return scanned.map((clone) => planClone(clone, flags));
  }

  #document(reposDir: string, clones: readonly PlannedClone[], passes: readonly ClonePass[] | null): PruneDocument {
    return pruneDocument({ mode: this.#options.dryRun ? "dry-run" : "acted", reposDir, clones, passes });
  }

  /** Prints the document, in the one way or the other, and returns the exit code. */
  async #finish(document: PruneDocument, notes: PruneNotes, exitCode: number, hasActed = false): Promise<number> {
    const view = makeView(this.#context, {
      verbose: this.#options.verbose,
      flags: { force: this.#options.force, discardIgnored: this.#options.discardIgnored },
    });
    if (this.#options.json) await write(this.#context.stdout, jsonText(document));
    else if (hasActed) await write(this.#context.stdout, renderReport(document, notes, view));
    else if (document.mode === "declined") await write(this.#context.stdout, "Nothing was removed.\n");
    else await write(this.#context.stdout, renderPlan(document, view));
    if (!hasActed && notes.unseenProcesses !== null && document.totals.toRemove > 0)
      this.#context.stderr.write(`dl: ${notes.unseenProcesses}\n`);
    return exitCode;
  }
}

const NO_NOTES: PruneNotes = { archives: new Map(), unseenProcesses: null, freeSpaceChange: null };

function notesOf(
  around: Surroundings,
  clones: readonly PlannedClone[],
  passes: readonly ClonePass[] | null,
  freeSpaceChange: number | null = null,
): PruneNotes {
  const archives = new Map<string, string>();
  for (const [i, pass] of (passes ?? []).entries()) {
    for (const outcome of pass.removals.values()) {
      if (outcome.kind !== "removed") continue;
      for (const [place, name] of outcome.archives) archives.set(`${clones[i]?.clone.path}/${place}`, name);
    }
  }
  const unseen = around.occupants.kind === "answered" ? around.occupants.value.unseen : around.occupants.words;
  return { archives, unseenProcesses: unseen, freeSpaceChange };
}

function question({ clones, totals }: PruneDocument): string {
  if (totals.toRemove > 0)
    return `Remove ${plural(totals.toRemove, "worktree")} and free ${size(totals.toRemoveBytes)}? [y/N] `;
  const drops = clones
    .flatMap((clone) => clone.registrationsWithoutDirectory)
    .filter(({ decision }) => decision === "drop").length;
  return `Drop ${plural(drops, "registration")} without a directory? [y/N] `;
}

function change(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before;
}
