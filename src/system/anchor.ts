import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { platform } from "node:os";
import { lstatWithin } from "./small-file.ts";

/**
 * Calls `work` with a path that names the directory at `root`/`path` for as long as it runs, whatever is swapped for a link meanwhile: every
 * component is opened from the one before it and none may be a link (SPEC §6.9). Where the system has no /proc, the components are only
 * checked first. Throws when one of them is no real directory.
 */
export async function withAnchor<T>(root: string, path: string, work: (anchor: string) => Promise<T>): Promise<T> {
  if (platform() !== "linux") {
    if (path !== "" && (await lstatWithin(root, path))?.isDirectory() !== true)
      throw new Error(`${root}/${path} is not a real directory`);
    return work(path === "" ? root : `${root}/${path}`);
  }
  let handle: FileHandle = await openDirectory(root);
  try {
    for (const component of path === "" ? [] : path.split("/")) {
      const next = await openDirectory(`/proc/self/fd/${handle.fd}/${component}`, `${root}/${path}`);
      await handle.close();
      handle = next;
    }
    return await work(`/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}

async function openDirectory(path: string, shown = path): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    throw new Error(`${shown} could not be opened as a real directory`, { cause: error });
  }
}
