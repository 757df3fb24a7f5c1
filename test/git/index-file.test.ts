import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import { endingOf, readPlainIndex } from "../../src/git/index-file.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

const ODD_PATHS = [
  "a.json",
  "x/y.json",
  "src/deep/er/file.json",
  "src/deep.json",
  "src-and/more.json",
  "ünïcode/näme.json",
  "with space/and\nnewline.json",
];
/** The length of a path has twelve bits in an index: this one's does not fit. */
const LONG_PATH = `${"long-directory-name/".repeat(215)}file.json`;

interface Seen {
  readonly isPlain: boolean;
  readonly directories: readonly string[];
  readonly paths: readonly string[];
}

function read(bytes: Buffer, sha256 = false): Seen {
  const directories: string[] = [];
  const paths: string[] = [];
  const isPlain = readPlainIndex(bytes, sha256, new Set([endingOf(Buffer.from(".json"))]), {
    seeDirectory: (path) => directories.push(path),
    seeName: (name) => paths.push([directories.at(-1), name].filter(Boolean).join("/")),
  });
  return { isPlain, directories, paths };
}

function indexOf(world: World, worktree: string): Buffer {
  return readFileSync(join(world.adminDirectory(worktree), "index"));
}

/** Returns the paths of an index as git lists them. */
function listed(world: World, worktree: string): string[] {
  return world.git(worktree, "ls-files", "-z").split("\0").filter(Boolean);
}

async function withOddPaths(options: Parameters<typeof temporaryWorld>[0] = {}) {
  const world = await temporaryWorld(options);
  const work = world.addWorktree("a1", { push: false });
  for (const path of ODD_PATHS) world.write(work, path, `${path.length}\n`);
  world.git(work, "add", "-A");
  return { world, work };
}

test.each(["sha1", "sha256"] as const)("an index of a %s repository is read as git reads it", async (objectFormat) => {
  const { world, work } = await withOddPaths({ objectFormat });
  const { isPlain, directories, paths } = read(indexOf(world, work), objectFormat === "sha256");
  expect(isPlain).toBe(true);
  expect(paths).toEqual(listed(world, work).filter((path) => path.endsWith(".json")));
  expect(new Set(directories)).toEqual(
    new Set(listed(world, work).map((path) => path.slice(0, Math.max(path.lastIndexOf("/"), 0)))),
  );
});

test("a path that is longer than an entry can say is read to its end", async () => {
  const { world, work } = await withOddPaths();
  const blob = world.git(work, "rev-parse", "HEAD:README.md").trim();
  world.git(work, "update-index", "--add", "--cacheinfo", `100644,${blob},${LONG_PATH}`);
  const { isPlain, paths } = read(indexOf(world, work));
  expect(isPlain).toBe(true);
  expect(paths).toEqual(listed(world, work).filter((path) => path.endsWith(".json")));
  expect(paths).toContain(LONG_PATH);
});

test("a path that is in conflict is seen like any other", async () => {
  const { world, work } = await withOddPaths();
  world.git(work, "commit", "-qm", "odd paths");
  const commits = ["one", "other"].map((text) => {
    world.write(work, "src/torn.json", text);
    world.git(work, "add", "src/torn.json");
    const tree = world.git(work, "write-tree").trim();
    return world.git(work, "commit-tree", tree, "-p", "HEAD", "-m", text).trim();
  });
  world.git(work, "reset", "-q", "--hard", "HEAD");
  world.git(work, "read-tree", "-m", "HEAD", ...commits);
  const { isPlain, paths } = read(indexOf(world, work));
  expect(isPlain).toBe(true);
  expect(paths).toContain("src/torn.json");
});

test("an index without entries is plain", async () => {
  const { world, work } = await withOddPaths();
  world.git(work, "read-tree", "--empty");
  expect(read(indexOf(world, work))).toEqual({ isPlain: true, directories: [], paths: [] });
});

/** What is done to an index → git has to be asked about it. */
const OTHERS: Readonly<Record<string, (world: World, work: string) => void>> = {
  "assume-unchanged": (world, work) => world.git(work, "update-index", "--assume-unchanged", "README.md"),
  "skip-worktree": (world, work) => world.git(work, "update-index", "--skip-worktree", "README.md"),
  "intent to add": (world, work) => {
    world.write(work, "new.json");
    world.git(work, "add", "-N", "new.json");
  },
  "version 4": (world, work) => world.git(work, "update-index", "--index-version", "4"),
  "a split index": (world, work) => world.git(work, "update-index", "--split-index"),
  "a sparse index": (world, work) =>
    world.git(work, "-c", "index.sparse=true", "sparse-checkout", "set", "--cone", "--sparse-index", "src"),
};

test.each(Object.keys(OTHERS))("%s: git is to be asked", async (name) => {
  const { world, work } = await withOddPaths();
  world.git(work, "commit", "-qm", "odd paths");
  OTHERS[name]?.(world, work);
  expect(read(indexOf(world, work)).isPlain).toBe(false);
});

test("a broken index is no plain one, wherever it stops or whatever byte of its head is another", async () => {
  const { world, work } = await withOddPaths();
  const bytes = indexOf(world, work);
  for (let length = 0; length < bytes.length; length += 7) {
    expect({ length, isPlain: read(bytes.subarray(0, length)).isPlain }).toEqual({ length, isPlain: false });
  }
  for (let at = 0; at < 12; at++) {
    const other = Buffer.from(bytes);
    other[at] = (other[at] ?? 0) ^ 0x15;
    expect({ at, isPlain: read(other).isPlain }).toEqual({ at, isPlain: false });
  }
});

test("an extension that is not known is git's to read", async () => {
  const { world, work } = await withOddPaths();
  const bytes = indexOf(world, work);
  for (const name of ["IEOT", "EOIE", "link", "sdir", "XXXX"]) {
    const extension = Buffer.concat([Buffer.from(name), Buffer.from([0, 0, 0, 0])]);
    const extended = Buffer.concat([bytes.subarray(0, -20), extension, bytes.subarray(-20)]);
    expect({ name, isPlain: read(extended).isPlain }).toEqual({ name, isPlain: false });
  }
});
