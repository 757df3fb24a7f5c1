import { wordsOf } from "../errors.ts";
import { deleteTree } from "../system/delete-tree.ts";
import type { Programs } from "../system/programs.ts";

/**
 * Deletes what was verified in quarantine, in the background, one tree at a time: two at a time gain nothing on ext4 and cost up to half as
 * much again on xfs and btrfs (PERF, "Removal").
 */
export class DeletionQueue {
  readonly #programs: Programs;
  readonly #signal: AbortSignal;
  readonly #onStart: (name: string) => void;
  #last: Promise<void> = Promise.resolve();

  constructor(programs: Programs, signal: AbortSignal, onStart: (name: string) => void) {
    this.#programs = programs;
    this.#signal = signal;
    this.#onStart = onStart;
  }

  /** Queues one path; `done` is called with the words of what went wrong, or null. */
  add(path: string, name: string, done: (error: string | null) => void): void {
    this.#last = this.#last.then(async () => {
      // What an interruption leaves in quarantine is verified: the next acting run finishes it.
      if (this.#signal.aborted) return done("the run was interrupted; the next one deletes it");
      this.#onStart(name);
      try {
        await deleteTree(path, this.#programs);
        done(null);
      } catch (error) {
        done(wordsOf(error));
      }
    });
  }

  /** Resolves when everything that was queued was tried. */
  finished(): Promise<void> {
    return this.#last;
  }
}
