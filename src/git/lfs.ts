import { createHash } from "node:crypto";
import { join } from "node:path";
import { lstatOrNull, openRegularFile } from "../system/small-file.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { splitLines, splitNul, type Git } from "./run.ts";

/** What an LFS pointer says of the file it stands for. */
export interface LfsPointer {
  readonly sha256: string;
  readonly size: number;
}

/** A pointer is shorter than this (git-lfs specification). */
const MAX_POINTER = 1024;

/** Parses the content of a git-lfs pointer (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md); null when it is none. */
export function parseLfsPointer(content: string): LfsPointer | null {
  if (!content.startsWith("version https://git-lfs.github.com/spec/v1\n")) return null;
  const sha256 = /^oid sha256:([0-9a-f]{64})$/m.exec(content)?.[1];
  const size = /^size (\d+)$/m.exec(content)?.[1];
  return sha256 === undefined || size === undefined ? null : { sha256, size: Number(size) };
}

/**
 * Returns those of the modified paths that are smudged LFS files: regular files whose size and sha256 are those of the pointer in the index.
 * The clone's LFS filter is not in force (it would run its code), so that git calls them modified. Two git processes at most.
 */
export async function findSmudgedLfsFiles(
  git: Git,
  gitDir: PrivateGitDir,
  workTree: string,
  modified: readonly string[],
): Promise<Set<string>> {
  const smudged = new Set<string>();
  const paths = modified.filter((path) => !path.includes("\n"));
  if (paths.length === 0) return smudged;
  const ask = async (format: string, names: readonly string[]): Promise<Buffer> =>
    (
      await git.run({
        gitDir: gitDir.path,
        workTree,
        args: ["cat-file", format],
        input: names.map((name) => `${name}\n`).join(""),
      })
    ).stdout;
  const sizes = splitLines(
    await ask(
      "--batch-check=%(objecttype) %(objectsize) %(objectname)",
      paths.map((path) => `:0:${path}`),
    ),
  );
  const small = sizes.flatMap((line, i) => {
    const [type, size, object] = line.split(" ");
    const path = paths[i];
    return type === "blob" && Number(size) < MAX_POINTER && object !== undefined && path !== undefined
      ? [{ path, object }]
      : [];
  });
  if (small.length === 0) return smudged;
  const contents = splitBatch(
    await ask(
      "--batch",
      small.map(({ object }) => object),
    ),
  );
  for (const [i, { path }] of small.entries()) {
    const pointer = parseLfsPointer(contents[i] ?? "");
    if (pointer !== null && (await isFileOf(join(workTree, path), pointer))) smudged.add(path);
  }
  if (smudged.size > 0) for (const path of await findModeChanges(git, gitDir, workTree)) smudged.delete(path);
  return smudged;
}

/** Returns the paths whose mode is not that of the index: an edit, whatever their content is. */
async function findModeChanges(git: Git, gitDir: PrivateGitDir, workTree: string): Promise<string[]> {
  const args = ["diff-files", "--raw", "-z", "--ignore-submodules=dirty"];
  const records = splitNul((await git.run({ gitDir: gitDir.path, workTree, args })).stdout);
  const changed: string[] = [];
  for (let i = 0; i + 1 < records.length; i += 2) {
    // `:<mode in the index> <mode of the file> <object> <object> <status>\0<path>` (git-diff-files(1), raw format).
    const [before, after] = (records[i] ?? "").slice(1).split(" ");
    if (before !== after) changed.push(records[i + 1] ?? "");
  }
  return changed;
}

/** Splits the output of `cat-file --batch`: `<object> <type> <size>\n<content>\n` each. */
function splitBatch(output: Buffer): string[] {
  const contents: string[] = [];
  for (let at = 0; at < output.length;) {
    const end = output.indexOf("\n", at);
    const size = Number(output.toString("latin1", at, end).split(" ")[2]);
    if (end < 0 || !Number.isInteger(size)) throw new Error("git cat-file --batch printed what was not understood");
    contents.push(output.toString("utf8", end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
  return contents;
}

async function isFileOf(path: string, pointer: LfsPointer): Promise<boolean> {
  // A link, a FIFO or a directory in its place is an edit, whatever lies behind it.
  if ((await lstatOrNull(path))?.isFile() !== true) return false;
  const file = await openRegularFile(path);
  if (file === null) return false;
  try {
    if ((await file.stat()).size !== pointer.size) return false;
    const hash = createHash("sha256");
    for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk as Buffer);
    return hash.digest("hex") === pointer.sha256;
  } finally {
    await file.close();
  }
}
