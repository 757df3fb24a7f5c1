import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { World } from "../../fixtures/world.ts";
import type { PruneDocument } from "../../src/report/documents.ts";

/** The built program: node runs it. */
export const PROGRAM = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));

/** Where and how the built dl is run. */
export interface DlOptions {
  /** Whose environment and root directory are used; without one, dl has a PATH and no home. */
  readonly world?: World;
  /** Variables on top; `undefined` takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Milliseconds after which it is killed and the run counts as failed. */
  readonly timeout?: number;
}

/** What a run of dl came to. `json` is null without `--json`, and where nothing was printed. */
export interface DlResult<Document = PruneDocument> {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly json: Document | null;
}

/** A dl that is still running. */
export interface RunningDl<Document = PruneDocument> {
  readonly pid: number;
  /** Resolves as soon as what was printed on either stream matches. */
  readonly until: (pattern: RegExp, timeout?: number) => Promise<void>;
  /** Types an answer and ends standard input. */
  readonly answer: (text: string) => void;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly done: Promise<DlResult<Document>>;
}

/** Runs the built dl to its end; `input` is all that there is on its standard input. */
export async function runDl<Document = PruneDocument>(
  args: readonly string[],
  options: DlOptions & { readonly input?: string } = {},
): Promise<DlResult<Document>> {
  const running = startDl<Document>(args, options);
  running.answer(options.input ?? "");
  return running.done;
}

/** Starts the built dl and leaves it running; it is killed when the running test ends, if not before. */
export function startDl<Document = PruneDocument>(
  args: readonly string[],
  options: DlOptions = {},
): RunningDl<Document> {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not there. Run \`npm run build\` first.`);
  const { world, timeout = 45_000 } = options;
  const home = world?.env ?? { PATH: process.env["PATH"], HOME: "/nonexistent", LC_ALL: "C" };
  const cwd = options.cwd ?? world?.root;
  const env = { ...home, ...options.env };
  const child = spawn(process.execPath, [PROGRAM, ...args], cwd === undefined ? { env } : { env, cwd });
  // A dl that ends before it reads its answer closes the pipe; that is no failure of the test.
  child.stdin.on("error", () => {});
  const printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      printed[stream] += text;
    });
  }
  const done = new Promise<DlResult<Document>>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`dl ${args.join(" ")} took longer than ${timeout} ms. ${shown(printed)}`));
    }, timeout);
    child.once("error", reject);
    child.once("close", (exitCode, signal) => {
      clearTimeout(timer);
      try {
        const json = args.includes("--json") ? parse<Document>(printed.stdout) : null;
        resolve({ exitCode, signal, ...printed, json });
      } catch (error) {
        reject(error);
      }
    });
  });
  // Nobody may be waiting yet; whoever does later still sees the failure.
  const ended = done.catch(() => {});
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    pid: child.pid ?? Number.NaN,
    until: (pattern, limit = 20_000) => until(child, printed, pattern, limit),
    answer: (text) => void child.stdin.end(text),
    kill: (signal) => void child.kill(signal),
    done,
  };
}

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

function until(child: ChildProcessWithoutNullStreams, printed: Printed, pattern: RegExp, limit: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const isThere = () => pattern.test(printed.stdout) || pattern.test(printed.stderr);
    const settle = (error?: Error) => {
      clearTimeout(timer);
      for (const stream of [child.stdout, child.stderr]) stream.off("data", look);
      child.off("close", ended);
      if (error === undefined) resolve();
      else reject(error);
    };
    const look = () => {
      if (isThere()) settle();
    };
    const ended = () => settle(isThere() ? undefined : new Error(`dl ended without ${pattern}. ${shown(printed)}`));
    const late = () => settle(new Error(`dl did not print ${pattern} within ${limit} ms. ${shown(printed)}`));
    const timer = setTimeout(late, limit);
    for (const stream of [child.stdout, child.stderr]) stream.on("data", look);
    child.once("close", ended);
    if (isThere()) settle();
    else if ((child.exitCode ?? child.signalCode) !== null && child.stdout.closed && child.stderr.closed) ended();
  });
}

/** Returns the one document on standard output, or null where nothing was printed; anything else there is a failure. */
function parse<Document>(stdout: string): Document | null {
  if (stdout === "") return null;
  try {
    return JSON.parse(stdout) as Document;
  } catch {
    throw new Error(`Standard output is not one JSON document: ${stdout}`);
  }
}

function shown({ stdout, stderr }: Printed): string {
  return `Standard output: ${JSON.stringify(stdout)}, standard error: ${JSON.stringify(stderr)}.`;
}
