import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { wordsOf } from "../errors.ts";
import { readAdminDirectories } from "../git/admin-directory.ts";
import { registrationId } from "../model/worktree.ts";
import { holdback } from "../plan/holdback.ts";
import { needsArchive, planClone, removalsOf, type Flags, type PlannedClone, type Removal } from "../plan/plan.ts";
import { UNTOUCHED, type ClonePass, type MetadataOutcome, type RemovalOutcome } from "../plan/pass.ts";
import { recheck } from "../plan/recheck.ts";
import { decideRegistrations } from "../scan/registrations.ts";
import { scanStrays, scanSubtrees, surveySurroundings } from "../scan/scan.ts";
import type { Tools } from "../scan/tools.ts";
import { lockFile } from "../system/flock.ts";
import { lstatWithin } from "../system/small-file.ts";
import { archiveWorktree, requireArchived, type Archive } from "./archive.ts";
import { DeletionQueue } from "./deletion-queue.ts";
import { putBack, Quarantine, type Quarantined } from "./quarantine.ts";

// The acting pass, clone by clone (SPEC §6). Every step up to 6 happens under the repository's lock, for a few removal roots at a time:
//
//   1. lock         flock(2) on <repository dir>/.lock, shared with the launcher
//   2. re-check     the whole subtree is scanned and planned again, by the code that made the plan; what was approved can only shrink
//   3. archive      what a forced removal would destroy is saved in the repository and read back
//   4. quarantine   directory first, then the registrations of all that is in it, out of the reach of any container
//   5. verify       scanned and planned once more where it lies now; whatever changed goes back untouched
//   6. unlock
//   7. delete       what was verified, one tree at a time per file system, while the next roots are looked at
//   8. metadata     under the lock again: approved registrations without a directory are dropped by name, and what is left decides the holdback

/** How many removal roots are re-checked and verified under one hold of the lock: few at first, so that deletion starts soon beside it. */
const [FIRST_BATCH, LARGEST_BATCH] = [2, 8];

/** What an acting pass reports as it goes. */
export interface ActProgress {
  readonly onWaiting: (lock: string) => void;
  readonly onRemoved: (bytes: number) => void;
  readonly onDeleting: (place: string) => void;
  /** Something that no outcome of a worktree tells: the run has failed in it. */
  readonly onProblem: (words: string) => void;
}

/**
 * Acts on planned clones and returns what became of each, in their order. What fails costs itself; an interruption ends the pass after the step
 * that is under way, and what was not reached is `planned` still. Nothing is thrown but bugs.
 */
export async function act(
  tools: Tools,
  clones: readonly PlannedClone[],
  flags: Flags,
  runId: string,
  progress: ActProgress,
): Promise<ClonePass[]> {
  const deletions = new DeletionQueue(tools.programs, tools.signal, progress.onDeleting);
  const passes: ClonePass[] = [];
  // One a repository, whatever order its clones come in: its owner's lock is held against everybody, this run included.
  const quarantines = new Map<string, Quarantine>();
  for (const planned of clones) {
    const pass = new CloneActor(tools, planned, flags, deletions, progress, async () => {
      const { repositoryDir } = planned.clone;
      let quarantine = quarantines.get(repositoryDir);
      if (quarantine === undefined) {
        quarantine = await Quarantine.open(repositoryDir, runId, tools.programs, tools.signal);
        quarantines.set(repositoryDir, quarantine);
      }
      return quarantine;
    });
    passes.push(await pass.run());
  }
  await deletions.finished();
  for (const quarantine of quarantines.values()) await quarantine.close();
  return passes;
}

class CloneActor {
  readonly #tools: Tools;
  readonly #planned: PlannedClone;
  readonly #flags: Flags;
  readonly #deletions: DeletionQueue;
  readonly #progress: ActProgress;
  readonly #openQuarantine: () => Promise<Quarantine>;
  readonly #outcomes = new Map<string, RemovalOutcome>();
  readonly #dropped: string[] = [];

  constructor(
    tools: Tools,
    planned: PlannedClone,
    flags: Flags,
    deletions: DeletionQueue,
    progress: ActProgress,
    openQuarantine: () => Promise<Quarantine>,
  ) {
    this.#tools = tools;
    this.#planned = planned;
    this.#flags = flags;
    this.#deletions = deletions;
    this.#progress = progress;
    this.#openQuarantine = openQuarantine;
  }

  async run(): Promise<ClonePass> {
    const removals = removalsOf(this.#planned);
    for (const { root } of removals) this.#outcomes.set(root.worktree.place, { kind: "planned" });
    let metadata = UNTOUCHED;
    try {
      let size = FIRST_BATCH;
      for (let at = 0; at < removals.length; at += size, size = Math.min(2 * size, LARGEST_BATCH)) {
        const batch = removals.slice(at, at + size);
        await this.#underLock(() => this.#removeBatch(batch));
      }
      const drops = this.#planned.strays.filter(({ decision }) => decision === "drop").length;
      if (removals.length + drops > 0) metadata = await this.#underLock(() => this.#finishMetadata());
    } catch (error) {
      const words = this.#tools.signal.aborted ? null : wordsOf(error);
      metadata = { ...metadata, dropped: this.#dropped, error: words };
      if (words !== null) this.#failPlanned(words);
    }
    return { removals: this.#outcomes, metadata };
  }

  #failPlanned(words: string): void {
    for (const [place, outcome] of this.#outcomes)
      if (outcome.kind === "planned") this.#outcomes.set(place, { kind: "failed", words });
  }

  async #underLock<T>(work: () => Promise<T>): Promise<T> {
    this.#tools.signal.throwIfAborted();
    await this.#requireRealPath();
    const path = join(this.#planned.clone.repositoryDir, ".lock");
    const lock = await lockFile(path, this.#tools.programs, {
      signal: this.#tools.signal,
      onWait: () => this.#progress.onWaiting(path),
    });
    try {
      await this.#requireRealPath();
      return await work();
    } finally {
      await lock.release();
    }
  }

  /** Throws when a directory between repos_dir and the clone is a link by now: what it leads to lies outside (SPEC §6.8). */
  async #requireRealPath(): Promise<void> {
    const { reposDir } = this.#tools;
    const { path } = this.#planned.clone;
    const isReal = (await lstatWithin(reposDir, relative(reposDir, path)))?.isDirectory() === true;
    if (!isReal || (await realpath(reposDir)) !== reposDir)
      throw new Error(`${path} is not where it was: a link or nothing is on the way to it`);
  }

  async #removeBatch(batch: readonly Removal[]): Promise<void> {
    const checked = await this.#recheck(batch);
    const taken: Taken[] = [];
    try {
      for (const removal of checked) {
        this.#tools.signal.throwIfAborted();
        const one = await this.#archiveAndTake(removal);
        if (one !== null) taken.push(one);
      }
      await this.#verify(taken);
    } finally {
      // Whatever is still here was neither verified nor put back: an interruption or a failure ended the batch.
      for (const one of taken) await this.#giveBack(one, () => ({ kind: "planned" }));
    }
  }

  /** Returns the removals that may still go, each as its subtree stands now; the others are withheld. */
  async #recheck(batch: readonly Removal[]): Promise<Removal[]> {
    const { clone } = this.#planned;
    const subtrees = batch.map(({ root: { worktree } }) => ({
      place: worktree.place,
      parent: worktree.parent,
      directory: join(clone.path, worktree.place),
    }));
    const around = await surveySurroundings(this.#tools);
    const now = planClone(
      await scanSubtrees(this.#tools, clone, around, subtrees, [`${clone.gitDir}/worktrees`]),
      this.#flags,
    );
    return batch.flatMap((removal) => {
      const result = recheck(removal, now);
      if (result.kind === "go") return [result.removal];
      this.#outcomes.set(removal.root.worktree.place, result);
      return [];
    });
  }

  async #archiveAndTake(removal: Removal): Promise<Taken | null> {
    const { clone } = this.#planned;
    const { place, identity } = removal.root.worktree;
    try {
      const archives: Archive[] = [];
      for (const entry of removal.subtree)
        if (needsArchive(entry)) archives.push(await archiveWorktree(this.#tools, clone, entry));
      const quarantine = await this.#openQuarantine();
      const ids = removal.subtree.flatMap(({ worktree }) => registrationId(worktree.registration) ?? []);
      return { removal, archives, quarantine, quarantined: await quarantine.take(clone, place, identity, ids) };
    } catch (error) {
      this.#outcomes.set(place, { kind: "failed", words: wordsOf(error) });
      return null;
    }
  }

  /** Looks once more at what lies in quarantine. What is verified is queued for deletion and taken off the list, the rest goes back. */
  async #verify(taken: Taken[]): Promise<void> {
    if (taken.length === 0) return;
    const { clone } = this.#planned;
    const around = await surveySurroundings(this.#tools);
    const subtrees = taken.map(({ removal: { root }, quarantined }) => ({
      place: root.worktree.place,
      parent: root.worktree.parent,
      directory: quarantined.tree,
    }));
    const adminRoots = [`${clone.gitDir}/worktrees`, ...taken.map(({ quarantined }) => quarantined.adminRoot)];
    const now = planClone(await scanSubtrees(this.#tools, clone, around, subtrees, adminRoots), this.#flags);
    for (let one = taken.shift(); one !== undefined; one = taken.shift()) {
      const result = recheck(one.removal, now);
      if (result.kind === "withheld") {
        await this.#giveBack(one, () => result);
        continue;
      }
      try {
        for (const archive of one.archives)
          await requireArchived(this.#tools, archive, quarantinedDirectory(one, archive));
        await this.#handOver(one);
      } catch (error) {
        await this.#giveBack(one, () => ({ kind: "failed", words: wordsOf(error) }));
      }
    }
  }

  async #giveBack(one: Taken, outcome: () => RemovalOutcome): Promise<void> {
    const { place } = one.removal.root.worktree;
    try {
      await putBack(this.#planned.clone, one.quarantined);
      this.#outcomes.set(place, outcome());
    } catch (error) {
      this.#outcomes.set(place, { kind: "failed", words: wordsOf(error) });
    }
  }

  async #handOver(one: Taken): Promise<void> {
    const { root, subtree } = one.removal;
    const { place } = root.worktree;
    const path = await one.quarantine.markVerified(one.quarantined);
    this.#dropped.push(...subtree.flatMap(({ worktree }) => registrationId(worktree.registration) ?? []));
    const archives = new Map(one.archives.map((archive) => [archive.place, archive.name]));
    const bytes = root.size?.bytes ?? 0;
    this.#outcomes.set(place, { kind: "removed", bytes, archives });
    this.#deletions.add(path, place, (error) => {
      if (error === null) this.#progress.onRemoved(bytes);
      else
        this.#outcomes.set(place, {
          kind: "failed",
          words: `it was taken out of the clone, but not all of it could be deleted: ${error}`,
        });
    });
  }

  /** Drops approved registrations without a directory, from fresh reads, and says what holds `git worktree prune` back. */
  async #finishMetadata(): Promise<MetadataOutcome> {
    const { clone } = this.#planned;
    const failed: string[] = [];
    let words: string | null = null;
    const approved = new Set(
      this.#planned.strays.flatMap(({ decision, registration }) =>
        decision === "drop" ? [registrationId(registration)] : [],
      ),
    );
    if (approved.size > 0) {
      const around = await surveySurroundings(this.#tools);
      const now = planClone(await scanStrays(this.#tools, clone, around), this.#flags);
      for (const stray of now.strays) {
        const id = registrationId(stray.registration);
        if (id === null || !approved.has(id) || stray.decision === "keep") continue;
        try {
          const path = await (await this.#openQuarantine()).takeRegistration(clone, id);
          this.#deletions.add(path, id, (error) => {
            if (error !== null)
              this.#progress.onProblem(`registration ${id} was dropped, but not all of it could be deleted: ${error}`);
          });
          this.#dropped.push(id);
        } catch (error) {
          failed.push(id);
          words = wordsOf(error);
        }
      }
    }
    const left = await readAdminDirectories(`${clone.gitDir}/worktrees`);
    if (left.kind === "unreadable") return holdback(this.#dropped, failed, [], left.words);
    const registrations = await decideRegistrations(clone, left.records);
    const wouldGo = registrations.all.flatMap((registration) =>
      registration.state === "prunable" || registration.state === "unreadable"
        ? [{ name: registrations.placeOf(registration) ?? registrationId(registration) ?? "" }]
        : [],
    );
    return holdback(this.#dropped, failed, wouldGo, words);
  }
}

interface Taken {
  readonly removal: Removal;
  readonly archives: readonly Archive[];
  readonly quarantine: Quarantine;
  readonly quarantined: Quarantined;
}

/** Where the worktree that an archive was made of lies now. */
function quarantinedDirectory({ removal, quarantined }: Taken, archive: Archive): string {
  return join(quarantined.tree, archive.place.slice(removal.root.worktree.place.length));
}
