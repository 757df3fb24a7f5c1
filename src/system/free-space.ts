import { statfs } from "node:fs/promises";

/** Returns the free bytes of the file system that a path lies on, or null when it does not say. */
export async function freeSpace(path: string): Promise<number | null> {
  try {
    const { bfree, bsize } = await statfs(path);
    return bfree * bsize;
  } catch {
    // A nicety of the report: nothing is decided by it.
    return null;
  }
}
