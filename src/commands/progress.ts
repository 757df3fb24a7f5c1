import type { Writable } from "node:stream";
import { harmless, shortenMiddle } from "../report/plain-text.ts";

const INTERVAL_MS = 100;

/** One line on standard error that says what is being done: on a terminal only, at most ten times a second, gone at the end. */
export class Progress {
  readonly #stream: Writable & { isTTY?: boolean; columns?: number };
  #text = "";
  #shown = 0;
  #isVisible = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Shows a text soon; another one that comes first takes its place. */
  show(text: string): void {
    if (this.#stream.isTTY !== true) return;
    this.#text = text;
    const now = performance.now();
    if (now - this.#shown < INTERVAL_MS) return;
    this.#shown = now;
    this.#isVisible = true;
    this.#stream.write(`\r\u001b[2K${shortenMiddle(harmless(this.#text), (this.#stream.columns ?? 80) - 1)}`);
  }

  /** Takes the line away, so that other output starts on a line of its own. */
  clear(): void {
    if (!this.#isVisible) return;
    this.#isVisible = false;
    this.#stream.write("\r\u001b[2K");
  }
}
