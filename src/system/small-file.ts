import { constants, type Stats } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import { errnoOf } from "../errors.ts";

const DEFAULT_CAP = 64 * 1024;

/**
 * Opens a regular file to read it: no link is followed in the last component and nothing blocks, as a FIFO planted under the name is refused, not
 * waited for (GIT-FACTS fact 10). Returns null when nothing is there. Throws when it is anything but a regular file, or cannot be opened.
 */
export async function openRegularFile(path: string): Promise<FileHandle | null> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    if (errnoOf(error) === "ELOOP") throw new Error(`${path} is a symbolic link`, { cause: error });
    throw error;
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error(`${path} is not a regular file`);
}

/**
 * Returns the bytes of a small regular file, or null when nothing is there. Throws when it is anything but a regular file of at most `cap` bytes, or
 * cannot be read.
 */
export async function readSmallFile(path: string, cap = DEFAULT_CAP): Promise<Buffer | null> {
  const bytes = await readStart(path, cap + 1);
  if (bytes !== null && bytes.length > cap) throw new Error(`${path} is larger than ${cap} bytes`);
  return bytes;
}

/**
 * Returns at most the first `bytes` bytes of a regular file of any size, however fast it grows, or null when nothing is there. Throws when it is
 * anything but a regular file, or cannot be read.
 */
export async function readStart(path: string, bytes: number): Promise<Buffer | null> {
  const file = await openRegularFile(path);
  if (file === null) return null;
  try {
    const buffer = Buffer.alloc(Math.min((await file.stat()).size + 1, bytes));
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
}

/** Returns what lies at a path itself, no link followed, or null when nothing does. Throws when it cannot be told. */
export async function lstatOrNull(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}

/** Whether a real directory, not a link to one, lies at the path. Throws when it cannot be told. */
export async function isDirectory(path: string): Promise<boolean> {
  return (await lstatOrNull(path))?.isDirectory() ?? false;
}

/**
 * Returns what lies at a path below `root`, or null when nothing does or a component on the way is no real directory:
 * a link planted in the middle leads nowhere. Throws when it cannot be told.
 */
export async function lstatWithin(root: string, path: string): Promise<Stats | null> {
  let at = root;
  let stats: Stats | null = null;
  for (const component of path.split("/")) {
    if (stats !== null && !stats.isDirectory()) return null;
    at = `${at}/${component}`;
    stats = await lstatOrNull(at);
    if (stats === null) return null;
  }
  return stats;
}
