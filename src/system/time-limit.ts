/** How long one question may take before it counts as unanswered (SPEC §6.1). */
export const TIME_LIMIT_MS = 30_000;

/** Returns what a promise comes to. Throws when it takes longer than the time limit; what it waits for may go on. */
export async function withinTime<T>(promise: Promise<T>, what: string, limit = TIME_LIMIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limit / 1000} seconds`)), limit);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
