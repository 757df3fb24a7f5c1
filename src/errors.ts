/** An error whose message is complete for the person who reads it: printed without a stack, with its exit code. */
export class KnownError extends Error {
  override readonly name = "KnownError";
  readonly exitCode: number;

  constructor(message: string, exitCode = 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Returns the words of anything that was thrown: an errno error's own message, never a stack. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the errno code (`ENOENT`, `EACCES`, …) of a thrown file-system error, or null for anything else. */
export function errnoOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
