import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { join } from "node:path";
import { errnoOf } from "../errors.ts";

/** The hash that names objects in a repository. */
export type ObjectFormat = "sha1" | "sha256";

interface Directory {
  readonly files: Map<string, { readonly mode: string; readonly id: Buffer }>;
  readonly directories: Map<string, Directory>;
}

/**
 * Returns the id of the tree object that git would make of these files, without writing one anywhere: `add -A` and `write-tree` would touch
 * the clone's object store (GIT-FACTS 5.2). Contents are hashed as they are, no filter and no line-end conversion applied.
 * No link is followed in the last component. Throws when a file cannot be read or is neither a file nor a link.
 */
export async function hashTree(directory: string, paths: readonly string[], format: ObjectFormat): Promise<string> {
  const root: Directory = { files: new Map(), directories: new Map() };
  const buffer = Buffer.allocUnsafe(CHUNK);
  let since = performance.now();
  for (const path of paths) {
    if (performance.now() - since > TURN_MS) {
      await turn();
      since = performance.now();
    }
    const parts = path.split("/");
    const name = parts.pop() ?? "";
    let at = root;
    for (const part of parts) {
      let next = at.directories.get(part);
      if (next === undefined) at.directories.set(part, (next = { files: new Map(), directories: new Map() }));
      at = next;
    }
    at.files.set(name, hashFile(join(directory, path), format, buffer));
  }
  return treeId(root, format).toString("hex");
}

const CHUNK = 1024 * 1024;
const TURN_MS = 30;

/** Synchronous, as a file that is read asynchronously costs ten times what its hash does; other work gets a turn now and then. */
function hashFile(path: string, format: ObjectFormat, buffer: Buffer): { mode: string; id: Buffer } {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) !== "ELOOP") throw error;
    return { mode: "120000", id: objectId("blob", readlinkSync(path, "buffer"), format) };
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    const hash = createHash(format).update(`blob ${stats.size}\0`);
    for (;;) {
      const read = readSync(file, buffer, 0, buffer.length, null);
      if (read === 0) break;
      hash.update(buffer.subarray(0, read));
      if (read < buffer.length && read === stats.size) break;
    }
    return { mode: (stats.mode & 0o100) !== 0 ? "100755" : "100644", id: hash.digest() };
  } finally {
    closeSync(file);
  }
}

/** A tree is its entries, `<mode> <name>\0<id>`, sorted by name as if a directory's ended in a slash. */
function treeId(directory: Directory, format: ObjectFormat): Buffer {
  const entries = [...directory.files].map(([name, { mode, id }]) => ({ name, mode, id, key: Buffer.from(name) }));
  for (const [name, child] of directory.directories) {
    entries.push({ name, mode: "40000", id: treeId(child, format), key: Buffer.from(`${name}/`) });
  }
  const parts = entries
    .toSorted((a, b) => Buffer.compare(a.key, b.key))
    .flatMap(({ name, mode, id }) => [Buffer.from(`${mode} ${name}\0`), id]);
  return objectId("tree", Buffer.concat(parts), format);
}

function objectId(type: string, content: Buffer, format: ObjectFormat): Buffer {
  return createHash(format).update(`${type} ${content.length}\0`).update(content).digest();
}
