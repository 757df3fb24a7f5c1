import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import { findSmudgedLfsFiles, parseLfsPointer } from "../../src/git/lfs.ts";
import { readIndex, readStatus } from "../../src/git/working-tree.ts";
import { privateGitDirOf } from "../helpers/private-git-dir.ts";
import { stagesOf } from "../helpers/stages.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

const CONTENT = "large\n".repeat(1000);
const SHA256 = "0123456789abcdef".repeat(4);

function pointerTo(content: string): string {
  const sha256 = createHash("sha256").update(content).digest("hex");
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${Buffer.byteLength(content)}\n`;
}

/** A worktree in which these paths were committed as pointers to CONTENT. */
async function withPointers(...paths: string[]): Promise<{ world: World; work: string }> {
  const seed = Object.fromEntries(paths.map((path) => [path, pointerTo(CONTENT)]));
  const world = await temporaryWorld({ seed });
  return { world, work: world.addWorktree("a1", { push: false }) };
}

/** Returns what git calls modified, and the part of it that is smudged. */
async function look(
  world: World,
  work: string,
): Promise<{ modified: readonly string[]; smudged: Set<string>; started: number }> {
  const { tools } = await stagesOf(world);
  const dir = await privateGitDirOf(world, tools, work);
  await readIndex(tools.git, dir, work);
  const { modified } = await readStatus(tools.git, dir, work);
  const before = tools.git.started;
  const smudged = await findSmudgedLfsFiles(tools.git, dir, work, modified);
  return { modified, smudged, started: tools.git.started - before };
}

test("smudged files are no edits, others beside them are", async () => {
  const names = ["big.bin", "deep/é b.bin", "edited.bin", "longer.bin", "plain.txt"];
  const { world, work } = await withPointers("big.bin", "deep/é b.bin", "edited.bin", "longer.bin");
  world.commit(work, "plain.txt", "no pointer\n");
  for (const name of ["big.bin", "deep/é b.bin"]) world.write(work, name, CONTENT);
  world.write(work, "edited.bin", CONTENT.replace("large", "LARGE"));
  world.write(work, "longer.bin", `${CONTENT}more`);
  world.write(work, "plain.txt", "edited\n");
  expect(await look(world, work)).toEqual({
    modified: names,
    smudged: new Set(["big.bin", "deep/é b.bin"]),
    started: 3,
  });
});

test("a smudged file whose filter the clone names is told without running it", async () => {
  const { world, work } = await withPointers("big.bin");
  const ran = join(world.root, "RAN");
  const script = world.write(world.root, "trap.sh", `#!/bin/sh\ntouch '${ran}'\n`);
  chmodSync(script, 0o755);
  for (const name of ["clean", "smudge", "process"])
    world.git(world.main.clone, "config", `filter.lfs.${name}`, script);
  world.git(world.main.clone, "config", "filter.lfs.required", "true");
  world.write(work, ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
  world.write(work, "big.bin", CONTENT);
  expect((await look(world, work)).smudged).toEqual(new Set(["big.bin"]));
  expect(() => readFileSync(ran)).toThrow("ENOENT");
});

test("where nothing is modified, git is not asked", async () => {
  const { world, work } = await withPointers("big.bin");
  expect(await look(world, work)).toEqual({ modified: [], smudged: new Set(), started: 0 });
});

test("where nothing modified is small enough for a pointer, contents are not read", async () => {
  const world = await temporaryWorld({ seed: { "big.txt": "x".repeat(1024) } });
  const work = world.addWorktree("a1", { push: false });
  world.write(work, "big.txt", "edited\n");
  expect(await look(world, work)).toEqual({ modified: ["big.txt"], smudged: new Set(), started: 1 });
});

test("a pointer that names the content of another file does not excuse an edit", async () => {
  const { world, work } = await withPointers("big.bin");
  world.commit(work, "other.bin", pointerTo("something else"));
  world.write(work, "other.bin", CONTENT);
  expect((await look(world, work)).smudged).toEqual(new Set());
});

/** What stands in place of a smudged file. */
const STAND_INS: Readonly<Record<string, (path: string, elsewhere: string) => void>> = {
  "a FIFO": (path) => execFileSync("mkfifo", [path]),
  "a directory of the same name": (path) => execFileSync("mkdir", [path]),
};

test.each(Object.entries(STAND_INS))("%s is no smudged file, and is not waited for", async (_, make) => {
  const { world, work } = await withPointers("big.bin");
  const { tools } = await stagesOf(world);
  const dir = await privateGitDirOf(world, tools, work);
  rmSync(join(work, "big.bin"));
  make(join(work, "big.bin"), join(world.root, "content"));
  expect(await findSmudgedLfsFiles(tools.git, dir, work, ["big.bin"])).toEqual(new Set());
});

test("a link to the content is not followed", async () => {
  const { world, work } = await withPointers("big.bin");
  const { tools } = await stagesOf(world);
  const dir = await privateGitDirOf(world, tools, work);
  rmSync(join(work, "big.bin"));
  writeFileSync(join(world.root, "content"), CONTENT);
  symlinkSync(join(world.root, "content"), join(work, "big.bin"));
  expect(await findSmudgedLfsFiles(tools.git, dir, work, ["big.bin"])).toEqual(new Set());
});

test("a path with a line break does not have another judged by the pointer of a third", async () => {
  const { world, work } = await withPointers("a\nb.bin", "b.bin");
  world.commit(work, "c.bin", "an afternoon\n");
  for (const name of ["a\nb.bin", "c.bin"]) world.write(work, name, CONTENT);
  world.write(work, "b.bin", "edited\n");
  expect(await look(world, work)).toMatchObject({ modified: ["a\nb.bin", "b.bin", "c.bin"], smudged: new Set() });
});

test("a path with a line break is left a modified one", async () => {
  const { world, work } = await withPointers("a\nb.bin");
  world.write(work, "a\nb.bin", CONTENT);
  expect(await look(world, work)).toMatchObject({ modified: ["a\nb.bin"], smudged: new Set() });
});

// The revision `:1:big.bin` is stage 1 of big.bin, and `:0:big.bin` its stage 0.
test("a path that looks like another's stage is asked for by its own name", async () => {
  const { world, work } = await withPointers("big.bin");
  world.commit(work, "0:big.bin", "work of an afternoon\n");
  world.write(work, "0:big.bin", CONTENT);
  expect(await look(world, work)).toMatchObject({ modified: ["0:big.bin"], smudged: new Set() });
});

// git calls both ` M`: an edit of the mode and a smudged content.
test("a smudged file whose mode was changed is an edit", async () => {
  const { world, work } = await withPointers("big.bin");
  world.write(work, "big.bin", CONTENT);
  chmodSync(join(work, "big.bin"), 0o755);
  expect(await look(world, work)).toMatchObject({ modified: ["big.bin"], smudged: new Set() });
});

const LINE = "version https://git-lfs.github.com/spec/v1\n";

test.each([
  [`${LINE}oid sha256:${SHA256}\nsize 3\n`, { sha256: SHA256, size: 3 }],
  [`${LINE}ext-0-foo sha256:${"b".repeat(64)}\noid sha256:${SHA256}\nsize 0\n`, { sha256: SHA256, size: 0 }],
  [`${LINE}oid sha256:${SHA256}\nsize 12345678901234`, { sha256: SHA256, size: 12_345_678_901_234 }],
])("%j is a pointer", (text, pointer) => {
  expect(parseLfsPointer(text)).toEqual(pointer);
});

test.each([
  "",
  LINE,
  `${LINE}size 3\n`,
  `${LINE}oid sha256:${SHA256}\n`,
  `${LINE}oid sha256:${SHA256.toUpperCase()}\nsize 3\n`,
  `${LINE}oid sha256:${SHA256}0\nsize 3\n`,
  `${LINE}oid sha256:${SHA256}\nsize -3\n`,
  `${LINE}oid sha256:${SHA256}\nsize 3 MiB\n`,
  `${LINE}oid md5:${SHA256}\nsize 3\n`,
  `\n${LINE}oid sha256:${SHA256}\nsize 3\n`,
  `version https://example.invalid/spec/v1\noid sha256:${SHA256}\nsize 3\n`,
])("%j is no pointer", (text) => {
  expect(parseLfsPointer(text)).toBeNull();
});
