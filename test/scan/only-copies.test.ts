import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MAX_NAMED } from "../../src/model/evidence.ts";
import { isWorktreePlace } from "../../src/model/place.ts";
import { findOnlyCopies, isIdenticalInClone, type CopyContext } from "../../src/scan/only-copies.ts";
import { RegenerableJudge } from "../../src/scan/regenerable.ts";
import { temporaryDirectory } from "../helpers/temporary.ts";

const CACHE_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n";
const BLOCK = 4096;

/** A clone with one worktree in its worktrees place. */
class Pair {
  readonly clone: string;
  readonly worktree: string;

  constructor(clone: string) {
    this.clone = clone;
    this.worktree = join(clone, ".claude/worktrees/a1");
    mkdirSync(this.worktree, { recursive: true });
  }

  context(signal = new AbortController().signal): CopyContext {
    const judge = new RegenerableJudge({
      directory: this.worktree,
      trackedDirectories: new Set([""]),
      trackedManifests: new Set(),
    });
    return { worktree: this.worktree, clone: this.clone, judge, isNestedPlace: isWorktreePlace, signal };
  }

  ours(path: string, content: string | Buffer = "an afternoon\n"): string {
    return write(join(this.worktree, path), content);
  }

  theirs(path: string, content: string | Buffer = "an afternoon\n"): string {
    return write(join(this.clone, path), content);
  }

  find(...entries: string[]): ReturnType<typeof findOnlyCopies> {
    return findOnlyCopies(this.context(), entries);
  }

  isIdentical(path: string): Promise<boolean> {
    return isIdenticalInClone(this.context(), path);
  }
}

async function makePair(): Promise<Pair> {
  return new Pair(join(await temporaryDirectory(), "ws"));
}

function write(path: string, content: string | Buffer): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

function link(text: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(text, path);
}

function allocated(path: string): number {
  return lstatSync(path).blocks * 512;
}

const NOTHING = { paths: [], files: 0, bytes: 0 };

test("takes a file for identical when type, size and every byte are those of the clone's", async () => {
  const pair = await makePair();
  pair.ours(".env");
  pair.theirs(".env");
  expect(await pair.isIdentical(".env")).toBe(true);
});

test.each([
  ["another content of the same size", "an afternoom\n"],
  ["a longer content", "an afternoon\n\n"],
  ["a shorter content", "an afternoon"],
  ["no content", ""],
])("keeps a file of which the clone has %s", async (_, content) => {
  const pair = await makePair();
  pair.ours("scratch/.env");
  pair.theirs("scratch/.env", content);
  expect(await pair.isIdentical("scratch/.env")).toBe(false);
  expect((await pair.find("scratch/")).paths).toEqual(["scratch/.env"]);
});

test("keeps a file that the clone does not have", async () => {
  const pair = await makePair();
  pair.ours("scratch/results.csv");
  pair.theirs("scratch/other.csv");
  expect(await pair.isIdentical("scratch/results.csv")).toBe(false);
});

test("compares large files to their last byte", async () => {
  const pair = await makePair();
  const content = Buffer.alloc(3 * 1024 * 1024, 7);
  pair.ours("same.bin", content);
  pair.theirs("same.bin", content);
  pair.ours("other.bin", content);
  content[content.length - 1] = 8;
  pair.theirs("other.bin", content);
  expect(await pair.isIdentical("same.bin")).toBe(true);
  expect(await pair.isIdentical("other.bin")).toBe(false);
});

test("compares links by their text, never by what they lead to", async () => {
  const pair = await makePair();
  pair.ours("real");
  pair.theirs("real");
  link("real", join(pair.worktree, "same"));
  link("real", join(pair.clone, "same"));
  link("real", join(pair.worktree, "other"));
  link("./real", join(pair.clone, "other"));
  link("real", join(pair.worktree, "only"));
  expect(await pair.isIdentical("same")).toBe(true);
  expect(await pair.isIdentical("other")).toBe(false);
  expect(await pair.isIdentical("only")).toBe(false);
});

test("does not take a link for the file that it leads to", async () => {
  const pair = await makePair();
  pair.ours("a");
  link("a", join(pair.worktree, "b"));
  pair.theirs("b");
  pair.ours("c");
  pair.theirs("d");
  link("d", join(pair.clone, "c"));
  expect(await pair.isIdentical("b")).toBe(false);
  expect(await pair.isIdentical("c")).toBe(false);
});

test("does not let a worktree's file speak for itself through a link in the clone to its directory", async () => {
  const pair = await makePair();
  pair.ours("data/results.csv");
  link(".claude/worktrees/a1/data", join(pair.clone, "data"));
  expect(await pair.isIdentical("data/results.csv")).toBe(false);
  expect((await pair.find("data/")).paths).toEqual(["data/results.csv"]);
});

test("does not let another worktree speak for the clone through a link in the clone to its directory", async () => {
  const pair = await makePair();
  pair.ours("data/results.csv");
  pair.theirs(".claude/worktrees/b1/data/results.csv");
  link(".claude/worktrees/b1/data", join(pair.clone, "data"));
  expect(await pair.isIdentical("data/results.csv")).toBe(false);
});

test("does not look through a link in the clone above the directory", async () => {
  const pair = await makePair();
  pair.ours("a/data/results.csv");
  pair.theirs(".claude/worktrees/b1/a/data/results.csv");
  link(".claude/worktrees/b1/a", join(pair.clone, "a"));
  expect(await pair.isIdentical("a/data/results.csv")).toBe(false);
});

test("does not let a worktree's file speak for itself through a link in the clone to the file", async () => {
  const pair = await makePair();
  pair.ours("data/results.csv");
  mkdirSync(join(pair.clone, "data"));
  link("../.claude/worktrees/a1/data/results.csv", join(pair.clone, "data/results.csv"));
  expect(await pair.isIdentical("data/results.csv")).toBe(false);
});

test("does not look through a link of the worktree to a directory", async () => {
  const pair = await makePair();
  pair.theirs("data/results.csv");
  pair.theirs("other/results.csv");
  link("../../../other", join(pair.worktree, "data"));
  expect(await pair.isIdentical("data/results.csv")).toBe(false);
});

test.each([".claude/worktrees/b1/notes.md", ".Claude/Worktrees/b1/notes.md"])(
  "does not take the clone's %s, which may go with the worktrees, for a copy",
  async (path) => {
    const pair = await makePair();
    pair.ours(path);
    pair.theirs(path);
    expect(await pair.isIdentical(path)).toBe(false);
  },
);

test("takes a hard link to the clone's own file for a copy: the clone's link stays", async () => {
  const pair = await makePair();
  const theirs = pair.theirs("model.bin");
  linkSync(theirs, join(pair.worktree, "model.bin"));
  expect(await pair.isIdentical("model.bin")).toBe(true);
});

test("does not take the clone itself for another place", async () => {
  const pair = await makePair();
  linkSync(pair.theirs("data/x"), join(pair.clone, "data/y"));
  const context = { ...pair.context(), worktree: pair.clone };
  expect(await isIdenticalInClone(context, "data/x")).toBe(false);
});

test.each([
  ["node_modules", "../../../node_modules"],
  ["node_modules", "/workspaces/ws/node_modules"],
  ["packages/a/node_modules", "../../../../../packages/a/node_modules"],
  ["node_modules", "../../../../../../node_modules"],
])("counts a link of %s to the clone's own as nothing: %s", async (path, text) => {
  const pair = await makePair();
  pair.theirs(`${path}/x`);
  link(text, join(pair.worktree, path));
  expect(await pair.find(path)).toEqual(NOTHING);
  expect(existsSync(join(pair.clone, path, "x"))).toBe(true);
});

test("counts an absolute link to the clone's own path as nothing", async () => {
  const pair = await makePair();
  const theirs = pair.theirs(".env");
  link(theirs, join(pair.worktree, ".env"));
  expect(await pair.find(".env")).toEqual(NOTHING);
});

test.each([
  ["another path of the clone", "../../../other"],
  ["another place", "/workspaces/elsewhere/data"],
  ["a place that is not the clone", "../../data"],
  ["itself", "data"],
])("keeps a link to %s", async (_, text) => {
  const pair = await makePair();
  pair.theirs("data/x");
  link(text, join(pair.worktree, "data"));
  expect((await pair.find("data")).paths).toEqual(["data"]);
});

test("keeps a link to a path that the clone does not have", async () => {
  const pair = await makePair();
  link("../../../data", join(pair.worktree, "data"));
  expect((await pair.find("data")).paths).toEqual(["data"]);
});

test.each(["", ".", "..", "../x", "a/../b", "/etc/passwd", "a//b"])(
  "takes nothing for identical under the path %j",
  async (path) => {
    const pair = await makePair();
    expect(await pair.isIdentical(path)).toBe(false);
  },
);

test("names the only copies below ignored entries, counts them and weighs what they occupy", async () => {
  const pair = await makePair();
  const results = pair.ours("scratch/a/results.csv", Buffer.alloc(BLOCK + 1, 1));
  const log = pair.ours("scratch/b.log");
  pair.ours("notes.log");
  pair.theirs("notes.log");
  const own = pair.ours("own.log");
  mkdirSync(join(pair.worktree, "scratch/empty/deeper"), { recursive: true });
  expect(await pair.find("scratch/", "notes.log", "own.log")).toEqual({
    paths: ["scratch/a/results.csv", "scratch/b.log", "own.log"],
    files: 3,
    bytes: allocated(results) + allocated(log) + allocated(own),
  });
  expect(readFileSync(join(pair.worktree, "scratch/b.log"), "utf8")).toBe("an afternoon\n");
});

test("weighs a file with two names once, and a sparse one by its blocks", async () => {
  const pair = await makePair();
  const file = pair.ours("scratch/a", Buffer.alloc(BLOCK, 1));
  linkSync(file, join(pair.worktree, "scratch/b"));
  truncateSync(pair.ours("scratch/sparse", ""), 1 << 30);
  const { files, bytes } = await pair.find("scratch/");
  expect({ files, bytes }).toEqual({ files: 3, bytes: allocated(file) });
});

test("does not enter what can be made again, and finds what lies beside it", async () => {
  const pair = await makePair();
  pair.ours("out/cache/CACHEDIR.TAG", CACHE_TAG);
  pair.ours("out/cache/deep/x");
  pair.ours("out/__pycache__/a.pyc");
  pair.ours("out/.DS_Store", "");
  pair.ours("out/results.csv");
  expect((await pair.find("out/")).paths).toEqual(["out/results.csv"]);
  expect(await pair.find("out/cache/")).toEqual(NOTHING);
});

test("names no more than it may, and counts them all", async () => {
  const pair = await makePair();
  const count = MAX_NAMED + 1500;
  for (let i = 0; i < count; i++) pair.ours(`scratch/${String(i).padStart(5, "0")}`, "");
  const found = await pair.find("scratch/");
  expect(found.files).toBe(count);
  expect(found.paths).toHaveLength(MAX_NAMED);
  expect(found.paths[0]).toBe("scratch/00000");
});

test("leaves nested places to be judged elsewhere, however git names what is in them", async () => {
  const pair = await makePair();
  pair.ours(".claude/worktrees/n1/secret.log");
  pair.ours(".claude/notes.md");
  expect((await pair.find(".claude/")).paths).toEqual([".claude/notes.md"]);
  expect(await pair.find(".claude/worktrees/n1/")).toEqual(NOTHING);
  expect(await pair.find(".claude/worktrees/n1/secret.log")).toEqual(NOTHING);
});

test("takes FIFOs and sockets for nothing and waits for none", async () => {
  const pair = await makePair();
  mkdirSync(join(pair.worktree, "run"));
  execFileSync("mkfifo", [join(pair.worktree, "run/pipe")]);
  const server = createServer().listen(join(pair.worktree, "run/s"));
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  expect(await pair.find("run/")).toEqual(NOTHING);
});

test("does not wait for a FIFO where the clone has its copy", async () => {
  const pair = await makePair();
  pair.ours("x", "");
  execFileSync("mkfifo", [join(pair.clone, "x")]);
  expect((await pair.find("x")).paths).toEqual(["x"]);
});

test("follows no ignored link to a directory", async () => {
  const pair = await makePair();
  pair.theirs("data/x");
  link(join(pair.clone, "data"), join(pair.worktree, "latest"));
  expect((await pair.find("latest")).paths).toEqual(["latest"]);
});

test("counts a file whose name cannot be read as an only copy", async () => {
  const pair = await makePair();
  for (const root of [pair.worktree, pair.clone]) {
    mkdirSync(join(root, "scratch"));
    writeFileSync(Buffer.concat([Buffer.from(join(root, "scratch/")), Buffer.from([0xff])]), "x");
  }
  expect(await pair.find("scratch/")).toEqual({ paths: ["scratch/\uFFFD"], files: 1, bytes: 0 });
  expect((await pair.find("scratch/\uFFFD")).files).toBe(1);
  expect((await pair.find("scr\uFFFD/x")).files).toBe(1);
  for (const root of [pair.worktree, pair.clone]) writeFileSync(join(root, "scratch/\uFFFD"), "x");
  expect(await pair.isIdentical("scratch/\uFFFD")).toBe(false);
});

test("takes an entry that is not there any more for nothing", async () => {
  const pair = await makePair();
  expect(await pair.find("gone.log", "gone/", "gone/deeper/x")).toEqual(NOTHING);
});

test("throws when a directory on the way to an entry became a link", async () => {
  const pair = await makePair();
  pair.theirs("elsewhere/x");
  link(join(pair.clone, "elsewhere"), join(pair.worktree, "scratch"));
  await expect(pair.find("scratch/x")).rejects.toThrow("scratch is no directory any more");
});

test.each(["", "../x", "/etc/passwd"])("throws over an entry that is no path below the worktree: %j", async (entry) => {
  const pair = await makePair();
  await expect(pair.find(entry)).rejects.toThrow("no path below the worktree");
});

test("throws when it cannot look", async () => {
  const pair = await makePair();
  await expect(pair.find("x".repeat(300))).rejects.toThrow("ENAMETOOLONG");
});

test.skipIf(process.getuid?.() === 0)("throws when a directory may not be read", async () => {
  const pair = await makePair();
  pair.ours("private/x");
  chmodSync(join(pair.worktree, "private"), 0);
  await expect(pair.find("private/")).rejects.toThrow("EACCES");
});

test.skipIf(process.getuid?.() === 0)(
  "does not look into what can be made again, nor mind that it cannot",
  async () => {
    const pair = await makePair();
    pair.ours("out/cache/CACHEDIR.TAG", CACHE_TAG);
    pair.ours("out/cache/private/x");
    chmodSync(join(pair.worktree, "out/cache/private"), 0);
    expect(await pair.find("out/")).toEqual(NOTHING);
  },
);

test("stops when told to", async () => {
  const pair = await makePair();
  pair.ours("scratch/x");
  const context = pair.context(AbortSignal.abort(new Error("stopped")));
  await expect(findOnlyCopies(context, ["scratch/"])).rejects.toThrow("stopped");
});

test("stops in the middle of a comparison, as other work gets its turn", async () => {
  const pair = await makePair();
  truncateSync(pair.ours("huge.bin", ""), 1 << 30);
  truncateSync(pair.theirs("huge.bin", ""), 1 << 30);
  const abort = new AbortController();
  const compared = isIdenticalInClone(pair.context(abort.signal), "huge.bin");
  setImmediate(() => abort.abort(new Error("stopped")));
  await expect(compared).rejects.toThrow("stopped");
});
