import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { runChild } from "./child.ts";
import { errnoOf, KnownError } from "../errors.ts";
import type { Programs } from "./programs.ts";

/** A lock that this process holds, until it releases it or ends. */
export interface HeldLock {
  release(): Promise<void>;
}

export interface LockOptions {
  readonly signal: AbortSignal;
  /** Called once when another process holds the lock, before it is waited for. */
  readonly onWait: () => void;
}

/**
 * Takes the lock that the launcher takes too: flock(2), exclusive, on the file at `path`, which is made when there is none; its content is
 * never touched. Waits for as long as another process holds it. Throws with the signal's reason when that aborts, and a `KnownError` when
 * there is no `flock` program.
 *
 * Node has no flock(2). The program takes it on a descriptor that it inherits from us; a lock belongs to the open file, not to the process, so it
 * stays with our descriptor when the program ends, and goes when we close that or die.
 */
export async function lockFile(path: string, programs: Programs, { signal, onWait }: LockOptions): Promise<HeldLock> {
  const flock = findFlock(programs);
  let hasWaited = false;
  signal.throwIfAborted();
  const lock = await takeCurrent(path, async (descriptor) => {
    signal.throwIfAborted();
    if (await flock(["-n", "-x"], descriptor)) return true;
    if (!hasWaited) onWait();
    hasWaited = true;
    return flock(["-x"], descriptor, signal);
  });
  if (lock === null) throw new Error("Assertion failed: a lock that is waited for is taken");
  return lock;
}

/** Takes the same lock, or returns null at once when another process holds it. */
export async function tryLockFile(path: string, programs: Programs): Promise<HeldLock | null> {
  const flock = findFlock(programs);
  return takeCurrent(path, (descriptor) => flock(["-n", "-x"], descriptor));
}

async function takeCurrent(path: string, take: (descriptor: number) => Promise<boolean>): Promise<HeldLock | null> {
  for (;;) {
    const descriptor = openLock(path);
    let isHeld = false;
    try {
      if (!(await take(descriptor))) return null;
      // A file that was replaced while it was waited for locks nobody out: the one that has its name now does.
      isHeld = isCurrent(path, descriptor);
      if (isHeld) return held(descriptor);
    } finally {
      if (!isHeld) closeSync(descriptor);
    }
  }
}

/** Opens a lock file without waiting for anything, following a link, or touching its content. */
function openLock(path: string): number {
  let descriptor: number;
  try {
    descriptor = openSync(
      path,
      constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      0o600,
    );
  } catch (error) {
    if (errnoOf(error) === "ELOOP") throw new Error(`The lock file ${path} is a symbolic link`, { cause: error });
    if (errnoOf(error) === "EISDIR") throw new Error(`The lock file ${path} is a directory`, { cause: error });
    throw error;
  }
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw new Error(`The lock file ${path} is not a regular file`);
}

function isCurrent(path: string, descriptor: number): boolean {
  const ours = fstatSync(descriptor, { bigint: true });
  const named = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return named !== undefined && named.dev === ours.dev && named.ino === ours.ino;
}

function held(descriptor: number): HeldLock {
  let isReleased = false;
  return {
    async release() {
      // The number may be another file's by the second time.
      if (!isReleased) closeSync(descriptor);
      isReleased = true;
    },
  };
}

/** Runs `flock` on our descriptor. Returns false when another process holds the lock and the program was not to wait. */
type Flock = (args: readonly string[], descriptor: number, signal?: AbortSignal) => Promise<boolean>;

/** Throws a `KnownError` that says what to install when there is no `flock` program: asked before anything is touched. */
export function requireFlock(programs: Programs): string {
  const program = programs.find("flock");
  if (program !== null) return program;
  throw new KnownError(
    "dl takes the lock of a repository with `flock`, and no absolute entry of PATH has it. Nothing was touched. " +
      "Install util-linux (on macOS: `brew install flock`) and run again.",
  );
}

/** Finds the program first of all, so that without it not even a lock file is made. */
function findFlock(programs: Programs): Flock {
  const program = requireFlock(programs);
  return async (args, descriptor, signal) => {
    const options = { env: programs.env, descriptor, ...(signal && { signal }) };
    const { exitCode, words, failure } = await runChild(program, [...args, "3"], options);
    // Ctrl-C reaches the program as well as us, and its end may be seen first.
    if (exitCode === null) await nextTurn();
    signal?.throwIfAborted();
    if (exitCode === 0) return true;
    if (exitCode === 1 && words === "" && args.includes("-n")) return false;
    const why = words || `flock ${failure ?? `ended with exit code ${exitCode}`}`;
    throw new Error(`The lock could not be taken: ${why}`);
  };
}
