import { readFile } from "node:fs/promises";
import { platform } from "node:os";
import { runChild } from "./child.ts";
import type { Programs } from "./programs.ts";

const MOUNTINFO = "/proc/self/mountinfo";

/** How often the table is read in the hope that it holds still. */
const READS = 20;

/** Returns where something is mounted, bind mounts included. Throws when the system does not say. */
export async function readMountPoints(programs: Programs): Promise<readonly string[]> {
  return platform() === "darwin" ? parseMount(await askMount(programs)) : parseMountinfo(await readMountinfo());
}

/** Returns the mount points, mounts within the table's order: the fifth field of each line, in which blanks and backslashes are octal. */
export function parseMountinfo(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const point = line.split(" ")[4];
      if (point === undefined || !point.startsWith("/"))
        throw new Error(`${MOUNTINFO} holds a line that was not understood: ${line}`);
      return point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    });
}

/**
 * Returns the mount points in what macOS's `mount` prints: `<what> on <where> (<options>)`. Where a name makes a line ambiguous, every place
 * that it can mean is returned: a mount point too many keeps a worktree, one too few can lose what is mounted in it.
 */
export function parseMount(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => {
      const end = line.lastIndexOf(" (");
      const points: string[] = [];
      for (let at = line.indexOf(" on /"); at >= 0 && at < end; at = line.indexOf(" on /", at + 1)) {
        points.push(line.slice(at + " on ".length, end));
      }
      if (points.length === 0) throw new Error(`mount printed a line that was not understood: ${line}`);
      return points;
    });
}

/** Returns the mount points at or below a directory, relative to it; "" is the directory itself. */
export function mountsWithin(mounts: readonly string[], directory: string): string[] {
  const prefix = directory.endsWith("/") ? directory : `${directory}/`;
  return mounts
    .filter((point) => point === directory || point.startsWith(prefix))
    .map((point) => point.slice(prefix.length));
}

/** The kernel gives the table a page at a time: only when two reads in a row are alike was nothing missed in between. */
async function readMountinfo(): Promise<string> {
  let last = "";
  for (let reads = 0; reads < READS; reads++) {
    const text = await readFile(MOUNTINFO, "utf8");
    if (text === last && text !== "") return text;
    last = text;
  }
  throw new Error(`${MOUNTINFO} kept changing while it was read`);
}

async function askMount(programs: Programs): Promise<string> {
  const { exitCode, stdout, words, failure } = await runChild("/sbin/mount", [], { env: programs.env });
  if (exitCode === 0) return stdout.toString();
  throw new Error(`mount could not be asked: ${words || (failure ?? `it ended with exit code ${exitCode}`)}`);
}
