import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { dir, setGracefulCleanup } from "tmp-promise";
import { expect, onTestFinished, test } from "vitest";
import { deleteTree } from "../../src/system/delete-tree.ts";
import { Programs } from "../../src/system/programs.ts";

setGracefulCleanup();

const programs = new Programs(process.env["PATH"], "/nonexistent");
const isRoot = process.geteuid?.() === 0;

async function temporary(): Promise<string> {
  const { path } = await dir({ unsafeCleanup: true });
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Makes a directory that nobody who runs this can empty, and says whether that was possible. */
function protect(path: string): boolean {
  if (!isRoot) {
    chmodSync(path, 0o555);
    onTestFinished(() => chmodSync(path, 0o755));
    return true;
  }
  onTestFinished(() => void spawnSync("chattr", ["-i", path]));
  return spawnSync("chattr", ["+i", path]).status === 0;
}

/** A directory of programs that holds only the named ones. */
async function only(...names: string[]): Promise<Programs> {
  const path = await temporary();
  for (const name of names) symlinkSync(programs.require(name, "in this test"), join(path, name));
  return new Programs(path, "/nonexistent");
}

test("removes a tree whole, whatever its names are", async () => {
  const root = await temporary();
  const tree = join(root, "-rf tree");
  for (let i = 0; i < 2000; i++) {
    const path = join(tree, `d${i % 20}`, `e${i % 100}`);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, `file\n${i}`), "x");
  }
  writeFileSync(join(root, "beside"), "stays");
  await deleteTree(tree, programs);
  expect(readdirSync(root)).toEqual(["beside"]);
});

test("removes links and follows none, not even where the tree itself is one", async () => {
  const root = await temporary();
  mkdirSync(join(root, "work"));
  writeFileSync(join(root, "work/kept"), "bytes");
  mkdirSync(join(root, "tree"));
  symlinkSync("../work", join(root, "tree/link"));
  symlinkSync(root, join(root, "tree/up"));
  linkSync(join(root, "work/kept"), join(root, "tree/same"));
  symlinkSync("work", join(root, "link"));
  await deleteTree(join(root, "tree"), programs);
  await deleteTree(`${join(root, "link")}/`, programs);
  expect(readdirSync(root)).toEqual(["work"]);
  expect(readFileSync(join(root, "work/kept"), "utf8")).toBe("bytes");
});

test("has nothing to do where nothing lies", async () => {
  await expect(deleteTree(join(await temporary(), "missing"), programs)).resolves.toBeUndefined();
});

test("removes nothing that is not named by an absolute path, nor the root", async () => {
  for (const path of ["", ".", "tree", "/", "/.."])
    await expect(deleteTree(path, programs)).rejects.toThrow("is nothing to remove");
});

test("fails with rm's words when something cannot be removed", async ({ skip }) => {
  const root = await temporary();
  const stuck = join(root, "tree/stuck");
  mkdirSync(stuck, { recursive: true });
  for (let i = 0; i < 50; i++) writeFileSync(join(stuck, `file-${i}`), "x");
  if (!protect(stuck)) skip();
  const failure = await deleteTree(join(root, "tree"), programs).catch((error: Error) => error.message);
  expect(failure).toMatch(/stuck\/file-\d+.*(not permitted|denied)/i);
  expect(failure).toMatch(/and 4\d more$/);
  expect(readdirSync(stuck)).toHaveLength(50);
});

test("fails when rm says that all is well and it is not", async () => {
  const path = await temporary();
  writeFileSync(join(path, "rm"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  const tree = await temporary();
  await expect(deleteTree(tree, new Programs(path, "/nonexistent"))).rejects.toThrow("is still there");
});

test("removes where nothing makes it give way, or may not", async () => {
  const bare = await only("rm");
  const refused = await only("rm", "true", "nice");
  writeFileSync(
    join(refused.path, "ionice"),
    "#!/bin/sh\necho 'ioprio_set failed: Operation not permitted' >&2\nexit 1\n",
    { mode: 0o755 },
  );
  for (const found of [bare, refused]) {
    const tree = join(await temporary(), "tree");
    mkdirSync(join(tree, "a/b"), { recursive: true });
    await deleteTree(tree, found);
    expect(existsSync(tree)).toBe(false);
  }
});

test("gives rm an option that its rm has", async () => {
  const path = await temporary();
  const rmProgram = programs.require("rm", "in this test");
  writeFileSync(
    join(path, "rm"),
    `#!/bin/sh
case "$*" in --help) echo 'usage: rm [-f | -i] [-dIPRrvWx] file ...' >&2; exit 64;; *--one-file-system*) exit 64;; esac
exec ${rmProgram} "$@"
`,
    { mode: 0o755 },
  );
  const tree = join(await temporary(), "tree");
  mkdirSync(join(tree, "a/b"), { recursive: true });
  await deleteTree(tree, new Programs(path, "/nonexistent"));
  expect(existsSync(tree)).toBe(false);
});

const mayMount = process.platform === "linux" && isRoot && spawnSync("unshare", ["-m", "true"]).status === 0;

test.skipIf(!mayMount)("leaves what is mounted in the tree from another file system", async () => {
  const path = await temporary();
  const tree = join(await temporary(), "tree");
  mkdirSync(join(tree, "mounted"), { recursive: true });
  // An rm that runs among mounts of its own, so that the one made here is gone with it.
  writeFileSync(
    join(path, "rm"),
    `#!/bin/sh
case "$1" in --help) exec /bin/rm --help;; esac
exec unshare -m sh -c 'mount -t tmpfs none "$0" && echo work > "$0/inside"; /bin/rm "$@"; code=$?; cat "$0/inside" >&2; exit $code' '${tree}/mounted' "$@"
`,
    { mode: 0o755 },
  );
  const failure = await deleteTree(tree, new Programs(`${path}:${programs.path}`, "/nonexistent")).catch(
    (error: Error) => error.message,
  );
  expect(failure).toMatch(/skipping '.*mounted', since it's on a different device/);
  expect(failure).toMatch(/; work$/);
});
