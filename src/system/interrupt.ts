import { KnownError } from "../errors.ts";

/** The signals that end a run, and the exit code that each gives: 128 and its number. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

type InterruptSignal = keyof typeof EXIT_CODES;

/** Why a run was aborted: somebody sent it a signal. */
export class Interrupted extends KnownError {
  constructor(signal: InterruptSignal) {
    super("Interrupted.", EXIT_CODES[signal]);
  }
}

/** Watches for the signals that end a run, so that it can finish its current step. */
export interface Interrupt {
  /** Aborts at the first signal, with an `Interrupted` as its reason. */
  readonly signal: AbortSignal;
  /** 130, 143 or 129 after a signal, and null before one. */
  readonly exitCode: number | null;
  /** Leaves the signals to whoever handles them otherwise. */
  stop(): void;
}

/** Turns SIGINT, SIGTERM and SIGHUP into an abort. A SIGINT after that ends the process at once: the person insists. */
export function watchInterrupts(): Interrupt {
  const controller = new AbortController();
  let exitCode: number | null = null;
  const onSignal = (signal: InterruptSignal): void => {
    if (exitCode === null) {
      exitCode = EXIT_CODES[signal];
      controller.abort(new Interrupted(signal));
    } else if (signal === "SIGINT") {
      process.exit(EXIT_CODES.SIGINT);
    }
  };
  const signals = Object.keys(EXIT_CODES) as InterruptSignal[];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    stop() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

/** Whoever read standard output went away: what is under way is finished, and nothing more is started. */
export class ReaderGone extends Error {
  override readonly name = "ReaderGone";
}
