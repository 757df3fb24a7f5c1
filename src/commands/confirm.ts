import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** Asks a question on standard error and reads one line of standard input, terminal or not; null when there is none to read. */
export function askLine(
  question: string,
  stdin: Readable,
  stderr: Writable,
  signal: AbortSignal,
): Promise<string | null> {
  stderr.write(question);
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stdin });
    const end = (settle: () => void): void => {
      signal.removeEventListener("abort", onAbort);
      settle();
      lines.close();
    };
    const onAbort = (): void => end(() => reject(signal.reason as Error));
    signal.addEventListener("abort", onAbort, { once: true });
    lines.once("line", (line) => end(() => resolve(line)));
    lines.once("close", () => end(() => resolve(null)));
  });
}

/** Whether an answer is a yes: `y` or `yes`, in any case, and nothing else. */
export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer.trim());
}
