import { spawn } from "node:child_process";
import { Readable } from "node:stream";
import { wordsOf } from "../errors.ts";

/** How a program is run. It stands in `/` and has no environment but this one: nothing of the caller's reaches it. */
export interface ChildOptions {
  readonly env: Readonly<Record<string, string>>;
  /** What it reads; where this is left out, nothing. */
  readonly input?: string | Buffer;
  /** A descriptor of ours that it has as its 3. */
  readonly descriptor?: number;
  /** After this it is killed. */
  readonly timeLimitMs?: number;
  /** Ends it when it aborts. */
  readonly signal?: AbortSignal;
}

/** How a program ended. */
export interface Ended {
  /** Null when it did not end by itself. */
  readonly exitCode: number | null;
  /** What it wrote to standard error, without the space around it; of much, the start and an ellipsis. */
  readonly words: string;
  /** Why it did not end by itself: it did not start, took too long, said too much, or a signal ended it. Null when it did. */
  readonly failure: string | null;
}

/** How a program ended, with all that it wrote to standard output. */
export interface Answered extends Ended {
  readonly stdout: Buffer;
}

/** A program that is running. Its standard output has to be read, or it waits. */
export interface Running {
  readonly stdout: Readable;
  /** Never rejects. */
  readonly ended: Promise<Ended>;
}

/** How much of standard error is kept: a program may complain about every file of a tree. */
const MAX_WORDS = 64 * 1024;
const MAX_OUTPUT = 1024 * 1024 * 1024;

/** Runs a program to its end. Never throws: `failure` says why it did not come to one. */
export async function runChild(program: string, args: readonly string[], options: ChildOptions): Promise<Answered> {
  const { stdout, ended } = startChild(program, args, options);
  const pieces: Buffer[] = [];
  let bytes = 0;
  stdout.on("data", (piece: Buffer) => {
    pieces.push(piece);
    bytes += piece.length;
    // The closed pipe ends it.
    if (bytes > MAX_OUTPUT) stdout.destroy();
  });
  const end = await ended;
  if (bytes > MAX_OUTPUT)
    return { ...end, exitCode: null, failure: `it wrote more than ${MAX_OUTPUT} bytes`, stdout: Buffer.alloc(0) };
  return { ...end, stdout: Buffer.concat(pieces) };
}

/** Starts a program. Never throws: `ended` says when it did not start. */
export function startChild(program: string, args: readonly string[], options: ChildOptions): Running {
  const { env, input, descriptor, timeLimitMs, signal } = options;
  const stdin = input === undefined ? "ignore" : "pipe";
  let child;
  try {
    child = spawn(program, args, {
      cwd: "/",
      env,
      stdio: [stdin, "pipe", "pipe", ...(descriptor === undefined ? [] : [descriptor])],
      ...(signal && { signal }),
    });
  } catch (error) {
    const end = { exitCode: null, words: "", failure: wordsOf(error) };
    return { stdout: Readable.from([]), ended: Promise.resolve(end) };
  }
  const { stdout, stderr } = child;
  const complaints: Buffer[] = [];
  let room = MAX_WORDS;
  stderr?.on("data", (piece: Buffer) => {
    if (room > 0) complaints.push(piece.subarray(0, room));
    room -= piece.length;
  });
  // One that ends before it has read everything says why itself.
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);

  const ended = new Promise<Ended>((resolve) => {
    const end = (exitCode: number | null, failure: string | null): void => {
      clearTimeout(timer);
      const words = Buffer.concat(complaints).toString("utf8").trim();
      resolve({ exitCode, words: room < 0 ? `${words}…` : words, failure });
    };
    const timer =
      timeLimitMs &&
      setTimeout(() => {
        child.kill("SIGKILL");
        // One that the kernel does not let go of, or that left its pipe to another, is not waited for.
        stdout?.destroy();
        stderr?.destroy();
        end(null, `took longer than ${timeLimitMs / 1000} seconds`);
      }, timeLimitMs);
    child.once("error", (error) => {
      if (child.pid === undefined) end(null, error.message);
    });
    child.once("close", (exitCode, by) => end(exitCode, exitCode === null ? `was ended by ${by}` : null));
  });
  return { stdout: stdout ?? Readable.from([]), ended };
}
