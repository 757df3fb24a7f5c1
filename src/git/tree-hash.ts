import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import { join } from "node:path";

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
  for (const path of paths) {
    const parts = path.split("/");
    const name = parts.pop() ?? "";
    let at = root;
    for (const part of parts) {
      let next = at.directories.get(part);
      if (next === undefined) at.directories.set(part, (next = { files: new Map(), directories: new Map() }));
      at = next;
    }
    at.files.set(name, await hashFile(join(directory, path), format));
  }
  return treeId(root, format).toString("hex");
}

async function hashFile(path: string, format: ObjectFormat): Promise<{ mode: string; id: Buffer }> {
  const stats = await lstat(path);
  if (stats.isSymbolicLink()) return { mode: "120000", id: objectId("blob", await readlink(path, "buffer"), format) };
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size, mode } = await file.stat();
    if (!(await file.stat()).isFile()) throw new Error(`${path} is not a regular file`);
    const hash = createHash(format).update(`blob ${size}\0`);
    for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk as Buffer);
    return { mode: (mode & 0o100) !== 0 ? "100755" : "100644", id: hash.digest() };
  } finally {
    await file.close();
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
