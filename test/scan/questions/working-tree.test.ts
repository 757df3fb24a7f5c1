import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../../fixtures/world.ts";
import { answered, unanswered, type OnlyCopies } from "../../../src/model/evidence.ts";
import { ask } from "../../../src/scan/questions/ask.ts";
import { askWorkingTree, type WorkingTreeAnswers } from "../../../src/scan/questions/working-tree.ts";
import { privateGitDirOf } from "../../helpers/private-git-dir.ts";
import { stagesOf } from "../../helpers/stages.ts";
import { temporaryWorld } from "../../helpers/temporary.ts";

/** Asks about a worktree of the main clone, and sees that nothing below repos_dir changed meanwhile. */
async function look(world: World, directory: string, nested: readonly string[] = []): Promise<WorkingTreeAnswers> {
  const { tools } = await stagesOf(world);
  const before = world.digest(world.reposDir);
  const baseline = await ask(async () => ({ gitDir: await privateGitDirOf(world, tools, directory), status: null }));
  const tree = { directory, clonePath: world.main.clone, nestedNames: new Set(nested), isForgotten: false };
  const answers = await askWorkingTree(tools, tree, baseline);
  expect(world.digest(world.reposDir)).toBe(before);
  return answers;
}

/** Returns what counts as uncommitted, and the paths of what counts as ignored. */
async function held(world: World, directory: string, nested: readonly string[] = []) {
  const { uncommitted, ignored } = await look(world, directory, nested);
  if (uncommitted.kind === "unanswered" || ignored.kind === "unanswered") throw new Error("no answer");
  return { uncommitted: uncommitted.value, ignored: ignored.value.paths };
}

async function makeWorktree(options: Parameters<typeof temporaryWorld>[0] = {}) {
  const world = await temporaryWorld(options);
  const work = world.addWorktree("a1", { push: false });
  return { world, work };
}

const NOTHING: OnlyCopies = { paths: [], files: 0, bytes: 0 };

test("a fresh worktree holds nothing of its own", async () => {
  const { world, work } = await makeWorktree();
  expect(await look(world, work)).toEqual({ uncommitted: answered([]), ignored: answered(NOTHING) });
});

test("edits and new files are uncommitted, ignored only copies are ignored", async () => {
  const { world, work } = await makeWorktree();
  world.write(work, "README.md", "edited\n");
  world.write(work, "notes/idea.md");
  world.write(work, "scratch/result.csv");
  world.write(work, ".env", "TOKEN=1\n");
  expect(await held(world, work)).toEqual({
    uncommitted: ["README.md", "notes/idea.md"],
    ignored: [".env", "scratch/result.csv"],
  });
});

test("an untracked file that the clone has, byte by byte, is none", async () => {
  const { world, work } = await makeWorktree();
  for (const directory of [work, world.main.clone]) {
    world.write(directory, "notes/same.md", "the same\n");
    world.write(directory, "notes/other.md", directory === work ? "mine\n" : "ours\n");
  }
  expect(await held(world, work)).toEqual({ uncommitted: ["notes/other.md"], ignored: [] });
});

test("an edit is uncommitted, also when the clone's own checkout has the same edit", async () => {
  const { world, work } = await makeWorktree();
  for (const directory of [work, world.main.clone]) world.write(directory, "README.md", "the same edit\n");
  expect((await held(world, work)).uncommitted).toEqual(["README.md"]);
});

test("what can be made again is neither ignored nor uncommitted", async () => {
  const { world, work } = await makeWorktree({ seed: { ".gitignore": ".claude/\nnode_modules/\n" } });
  world.nodeModules(work);
  world.pixiEnvironment(work);
  world.write(work, "src/__pycache__/a.cpython-312.pyc");
  world.write(work, ".DS_Store", Buffer.from("\0\0\0\u0001Bud1", "latin1"));
  world.write(work, ".claude/settings.local.json", "{}\n");
  expect(await held(world, work)).toEqual({ uncommitted: [], ignored: [] });
});

test("a node_modules that no tracked manifest stands for is an only copy", async () => {
  const { world, work } = await makeWorktree();
  world.nodeModules(work, { files: 1 });
  world.git(work, "rm", "-q", "package.json");
  world.git(work, "commit", "-q", "-m", "no manifest");
  world.write(work, "package.json", "{}\n");
  const { uncommitted, ignored } = await held(world, work);
  expect(uncommitted).toEqual(["package.json"]);
  expect(ignored).toContain("node_modules/some-package/lib/file-0");
});

test("what is in a nested worktree is judged there, whether git ignores it or not", async () => {
  for (const ignore of [".claude/\n", "*.log\n"]) {
    const { world, work } = await makeWorktree({ seed: { ".gitignore": ignore } });
    world.write(world.addWorktree("n1", { inside: work, push: false }), "notes.md");
    world.containerise();
    expect(await held(world, work, ["n1"])).toEqual({ uncommitted: [], ignored: [] });
  }
});

test("what stands in the worktrees place and is no entry of it that is judged elsewhere counts here", async () => {
  const { world, work } = await makeWorktree({ seed: { ".gitignore": "*.log\n" } });
  world.write(work, ".claude/worktrees/n1-not/notes.md");
  world.write(work, ".claude/worktrees/n1/notes.md");
  world.write(work, ".claude/notes.md");
  expect((await held(world, work, ["n1"])).uncommitted).toEqual([
    ".claude/notes.md",
    ".claude/worktrees/n1-not/notes.md",
  ]);
});

test("an embedded repository is uncommitted work, not looked into for a copy in the clone", async () => {
  const { world, work } = await makeWorktree();
  for (const directory of [work, world.main.clone]) world.git(world.root, "init", "-q", join(directory, "tool"));
  expect((await held(world, work)).uncommitted).toEqual(["tool/"]);
});

test("a smudged LFS file is no edit", async () => {
  const content = "large\n".repeat(1000);
  const sha256 = createHash("sha256").update(content).digest("hex");
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${content.length}\n`;
  const { world, work } = await makeWorktree({ seed: { "big.bin": pointer, "other.bin": pointer } });
  world.write(work, "big.bin", content);
  world.write(work, "other.bin", `${content}more\n`);
  expect((await held(world, work)).uncommitted).toEqual(["other.bin"]);
});

test("a link and its text are compared, never what it leads to", async () => {
  const { world, work } = await makeWorktree();
  world.write(world.main.clone, "notes.md", "text\n");
  writeFileSync(join(world.root, "text"), "text\n");
  symlinkSync(join(world.root, "text"), join(work, "notes.md"));
  expect((await held(world, work)).uncommitted).toEqual(["notes.md"]);
});

test("without a git directory neither question has an answer", async () => {
  const { world, work } = await makeWorktree();
  const { tools } = await stagesOf(world);
  const tree = { directory: work, clonePath: world.main.clone, nestedNames: new Set<string>(), isForgotten: false };
  const words = unanswered("its HEAD is a link");
  expect(await askWorkingTree(tools, tree, words)).toEqual({ uncommitted: words, ignored: words });
});

test("an index that git cannot read leaves both questions without an answer, in git's words", async () => {
  const { world, work } = await makeWorktree();
  writeFileSync(join(world.adminDirectory(work), "index"), "corrupt");
  const { uncommitted, ignored } = await look(world, work);
  expect(uncommitted).toEqual(unanswered(expect.stringContaining("index") as string));
  expect(ignored).toEqual(uncommitted);
});

test("an object of HEAD that is missing leaves both questions without an answer", async () => {
  const { world, work } = await makeWorktree();
  const commit = world.commit(work);
  const tree = world.git(work, "rev-parse", "HEAD^{tree}").trim();
  for (const object of [commit, tree]) {
    const path = join(world.main.clone, ".git/objects", object.slice(0, 2), object.slice(2));
    expect(existsSync(path)).toBe(true);
    if (object === tree) rmSync(path);
  }
  const { uncommitted, ignored } = await look(world, work);
  expect([uncommitted.kind, ignored.kind]).toEqual(["unanswered", "unanswered"]);
});

test.skipIf(process.getuid?.() === 0)(
  "an ignored directory that may not be read leaves that question alone without an answer",
  async () => {
    const { world, work } = await makeWorktree();
    world.write(work, "scratch/result.csv");
    chmodSync(join(work, "scratch"), 0);
    const { tools } = await stagesOf(world);
    const baseline = answered({ gitDir: await privateGitDirOf(world, tools, work), status: null });
    const tree = { directory: work, clonePath: world.main.clone, nestedNames: new Set<string>(), isForgotten: false };
    const { uncommitted, ignored } = await askWorkingTree(tools, tree, baseline);
    expect(uncommitted).toEqual(answered([]));
    expect(ignored).toEqual(unanswered(expect.stringContaining("EACCES") as string));
  },
);

test("a hostile clone's attributes, filters and excludes neither run nor hide anything", async () => {
  const { world, work } = await makeWorktree();
  const ran = join(world.root, "RAN");
  const script = world.write(world.root, "trap.sh", `#!/bin/sh\ntouch '${ran}'\ncat\n`);
  chmodSync(script, 0o755);
  const { clone } = world.main;
  world.git(clone, "config", "core.fsmonitor", script);
  world.git(clone, "config", "filter.trap.clean", script);
  world.git(clone, "config", "core.excludesFile", world.write(world.root, "excludes", "*.md\n"));
  world.git(clone, "config", "status.showUntrackedFiles", "no");
  world.write(clone, ".git/info/exclude", "*.md\n");
  world.write(clone, ".git/info/attributes", "* filter=trap\n");
  world.write(work, "src/a.txt", readFileSync(join(work, "src/a.txt"), "utf8").replace("a line", "A LINE"));
  world.write(work, "notes.md");
  expect((await held(world, work)).uncommitted).toEqual(["src/a.txt", "notes.md"]);
  expect(existsSync(ran)).toBe(false);
});
