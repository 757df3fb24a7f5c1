import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { platform } from "node:os";
import { expect, test } from "vitest";
import { hashTree } from "../../src/git/tree-hash.ts";
import { temporaryDirectory, temporaryWorld } from "../helpers/temporary.ts";

const EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

function write(directory: string, name: string, content: string | Uint8Array = "work\n"): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** Runs git without any configuration of this machine's. */
function git(directory: string, ...args: string[]): string {
  const env = { PATH: process.env["PATH"], HOME: directory, GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", args, { cwd: directory, env, encoding: "utf8" });
}

/** What a directory is filled with: each a shape that a tree's id depends on. */
const CONTENTS: Readonly<Record<string, (work: string) => void>> = {
  "one file": (work) => write(work, "README.md"),
  "names that need no quoting here but would in git's output": (work) => {
    for (const name of ['ünï-"q"', "a\tb", "a\nb", "a\\b", "*", "-n", ":x", "~", "a b/ c"]) write(work, name);
  },
  "names that sort otherwise when they are directories": (work) => {
    for (const name of ["a/x", "a.txt", "a-b", "a0", "aa", "A/x", "a b/x", "a b.txt"]) write(work, name);
  },
  "names beyond the basic plane, which sort by bytes": (work) => {
    for (const name of ["\u{1F600}", "\uFFEE", "é", "e\u0301", "z"]) write(work, name);
  },
  "empty files, and one without a line end": (work) => {
    write(work, "empty", "");
    write(work, "open", "no line end");
  },
  "bytes that are no text, and line ends of another system": (work) => {
    write(work, "bytes", Buffer.from([0, 0xff, 0x0d, 0x0a, 0x80]));
    write(work, "crlf.txt", "one\r\ntwo\r\n");
  },
  "a large file": (work) => write(work, "large", Buffer.alloc(3 * 1024 * 1024 + 1, 7)),
  "modes that git tells apart, and those that it does not": (work) => {
    for (const mode of [0o755, 0o700, 0o744, 0o640, 0o655, 0o677])
      chmodSync(write(work, `mode-${mode.toString(8)}`), mode);
  },
  "links: to a file, to a directory, to nothing, with an odd text": (work) => {
    for (const [n, text] of ["README.md", "src", "/nonexistent", "é \n", Buffer.from([0x78, 0xff])].entries())
      symlinkSync(text, join(work, `link-${n}`));
  },
  "directories in directories": (work) => {
    for (const name of ["d/e/f/g/h", "d/e/f.txt", "d/e.txt", "d/e/f/g.txt"]) write(work, name);
  },
  "a directory that is empty": (work) => mkdirSync(join(work, "nothing/here"), { recursive: true }),
};

const CASES = Object.keys(CONTENTS).flatMap((what) =>
  (["sha1", "sha256"] as const).map((format) => [what, format] as const),
);

test.each(CASES)("hashes %s as git does (%s)", async (what, objectFormat) => {
  const work = await temporaryDirectory();
  git(work, "init", "-q", `--object-format=${objectFormat}`);
  CONTENTS[what]?.(work);
  git(work, "add", "-A");
  const paths = git(work, "ls-files", "-z").split("\0").slice(0, -1);
  expect(await hashTree(work, paths, objectFormat)).toBe(git(work, "write-tree").trim());
});

test("the order in which paths are given does not matter", async () => {
  const directory = await temporaryDirectory();
  mkdirSync(join(directory, "a"));
  for (const name of ["a/x", "a.txt", "b"]) writeFileSync(join(directory, name), name);
  const ids = await Promise.all(
    [
      ["a/x", "a.txt", "b"],
      ["b", "a.txt", "a/x"],
    ].map((paths) => hashTree(directory, paths, "sha1")),
  );
  expect(ids[0]).toBe(ids[1]);
});

test("no paths are the empty tree", async () => {
  expect(await hashTree(await temporaryDirectory(), [], "sha1")).toBe(EMPTY);
});

test("hashing writes nothing", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1", { push: false });
  const before = world.digest(world.reposDir);
  await hashTree(work, ["README.md", "src/a.txt"], "sha1");
  expect(world.digest(world.reposDir)).toBe(before);
});

test("content is hashed as it is, whatever conversion the attributes ask for", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1", { push: false });
  world.write(work, ".gitattributes", "* text=auto eol=crlf ident\n");
  world.write(work, "a.txt", "one\r\ntwo $Id: x $\r\n");
  const tree = await hashTree(work, ["a.txt"], "sha1");
  const blob = world.git(work, "hash-object", "--no-filters", "a.txt").trim();
  const input = `100644 blob ${blob}\ta.txt\n`;
  expect(tree).toBe(execFileSync("git", ["mktree", "--missing"], { cwd: work, input, encoding: "utf8" }).trim());
});

/** What stands where a file was listed → how it is refused. */
const NO_FILES: Readonly<Record<string, { make: (path: string) => void; words: string }>> = {
  nothing: { make: () => {}, words: "ENOENT" },
  "a FIFO": { make: (path) => execFileSync("mkfifo", [path]), words: "is not a regular file" },
  "a directory": { make: (path) => mkdirSync(path), words: "is not a regular file" },
};

test.each(Object.entries(NO_FILES))("%s where a file was listed has no hash", async (_, { make, words }) => {
  const directory = await temporaryDirectory();
  make(join(directory, "a"));
  await expect(hashTree(directory, ["a"], "sha1")).rejects.toThrow(words);
});

// macOS takes no such name.
test.skipIf(platform() === "darwin")("a name that is no UTF-8 has no hash, rather than that of another", async () => {
  const directory = await temporaryDirectory();
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff])]), "x");
  await expect(hashTree(directory, ["\uFFFD"], "sha1")).rejects.toThrow("ENOENT");
});
