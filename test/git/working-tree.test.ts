import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import { endingOf } from "../../src/git/index-file.ts";
import { readIndex, readStatus, type IndexFacts, type StatusFacts } from "../../src/git/working-tree.ts";
import { privateGitDirOf } from "../helpers/private-git-dir.ts";
import { stagesOf } from "../helpers/stages.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

interface Seen {
  readonly index: IndexFacts;
  readonly status: StatusFacts;
}

/** Asks a worktree's index and status in a private git directory, and sees that nothing below repos_dir changed meanwhile. */
async function look(world: World, directory: string): Promise<Seen> {
  const { tools } = await stagesOf(world);
  const before = world.digest(world.reposDir);
  const dir = await privateGitDirOf(world, tools, directory);
  const index = await readIndex(tools.git, dir, directory, {
    endings: new Set([endingOf(Buffer.from("package.json"))]),
    includes: (basename) => basename === "package.json",
  });
  const status = await readStatus(tools.git, dir, directory);
  expect(world.digest(world.reposDir)).toBe(before);
  return { index, status };
}

async function makeWorktree(
  options: Parameters<typeof temporaryWorld>[0] = {},
): Promise<{ world: World; work: string }> {
  const world = await temporaryWorld(options);
  return { world, work: world.addWorktree("a1", { push: false }) };
}

const clean = { changed: [], modified: [], deleted: [], untracked: [], ignored: [] };

test("a fresh worktree is clean, and asking writes nothing", async () => {
  const { world, work } = await makeWorktree();
  expect((await look(world, work)).status).toEqual(clean);
});

test("a worktree whose registration names a container's path is asked just so", async () => {
  const { world, work } = await makeWorktree();
  world.write(work, "README.md", "edited\n");
  world.containerise();
  expect((await look(world, work)).status).toEqual({ ...clean, changed: ["README.md"], modified: ["README.md"] });
});

test.each(["sha1", "sha256"] as const)(
  "edits, new, ignored and staged paths are seen in a %s repository",
  async (objectFormat) => {
    const { world, work } = await makeWorktree({ objectFormat });
    world.write(work, "README.md", "edited\n");
    world.write(work, "new file\nwith a line break", "new\n");
    world.write(work, "scratch/ignored.txt", "ignored\n");
    world.write(work, "staged.txt", "staged\n");
    world.git(work, "add", "staged.txt");
    expect((await look(world, work)).status).toEqual({
      changed: ["README.md", "staged.txt"],
      modified: ["README.md"],
      deleted: [],
      untracked: ["new file\nwith a line break"],
      ignored: ["scratch/"],
    });
  },
);

/** What was done to a clean worktree → the paths that count as changed, and the part of them that may be a smudged file. */
const CHANGES: Readonly<
  Record<string, { act: (world: World, work: string) => void; changed: string[]; modified: string[] }>
> = {
  "a tracked file that is gone": {
    act: (_, work) => rmSync(join(work, "README.md")),
    changed: ["README.md"],
    modified: [],
  },
  "a removal that is staged": {
    act: (world, work) => world.git(work, "rm", "-q", "README.md"),
    changed: ["README.md"],
    modified: [],
  },
  "a rename that is staged": {
    act: (world, work) => world.git(work, "mv", "README.md", "src/moved.md"),
    changed: ["README.md", "src/moved.md"],
    modified: [],
  },
  "an edit that is staged": {
    act: (world, work) => {
      world.write(work, "README.md", "edited\n");
      world.git(work, "add", "-A");
    },
    changed: ["README.md"],
    modified: [],
  },
  "an edit that is staged and undone in the file": {
    act: (world, work) => {
      const before = world.git(work, "show", "HEAD:README.md");
      world.write(work, "README.md", "edited\n");
      world.git(work, "add", "-A");
      world.write(work, "README.md", before);
    },
    changed: ["README.md"],
    modified: [],
  },
  "a file that is meant to be added": {
    act: (world, work) => {
      world.write(work, "new.txt");
      world.git(work, "add", "-N", "new.txt");
    },
    changed: ["new.txt"],
    modified: [],
  },
  "a mode that was changed": {
    act: (_, work) => chmodSync(join(work, "README.md"), 0o755),
    changed: ["README.md"],
    modified: ["README.md"],
  },
  "a file that became a link": {
    act: (_, work) => {
      rmSync(join(work, "README.md"));
      symlinkSync("package.json", join(work, "README.md"));
    },
    changed: ["README.md"],
    modified: [],
  },
  "a file that became a FIFO": {
    act: (_, work) => {
      rmSync(join(work, "README.md"));
      execFileSync("mkfifo", [join(work, "README.md")]);
    },
    changed: ["README.md"],
    modified: ["README.md"],
  },
  "a conflict": {
    act: (world, work) => {
      world.commit(world.main.clone, "README.md", "theirs\n");
      world.commit(work, "README.md", "ours\n");
      world.tryGit(work, "merge", "main");
    },
    changed: ["README.md"],
    modified: [],
  },
  "an ignored file that is tracked, edited": {
    act: (world, work) => {
      world.write(work, "scratch/kept.txt", "one\n");
      world.git(work, "add", "-f", "scratch/kept.txt");
      world.git(work, "commit", "-q", "-m", "kept");
      world.write(work, "scratch/kept.txt", "two, longer\n");
    },
    changed: ["scratch/kept.txt"],
    modified: ["scratch/kept.txt"],
  },
  "an index that is gone": {
    act: (world, work) => {
      for (const name of ["package.json", "pixi.toml", "src/a.txt", ".gitignore"]) world.git(work, "rm", "-q", name);
      world.git(work, "commit", "-q", "-m", "only a readme");
      rmSync(join(world.adminDirectory(work), "index"));
    },
    changed: ["README.md"],
    modified: [],
  },
};

test.each(Object.entries(CHANGES))("%s is a change", async (_, { act, changed, modified }) => {
  const { world, work } = await makeWorktree();
  act(world, work);
  const { status } = await look(world, work);
  expect(status).toMatchObject({ changed, modified });
});

test("untracked files are named one by one, ignored ones by what the rules match", async () => {
  const { world, work } = await makeWorktree();
  for (const name of [
    "new/a.txt",
    "new/deep/b.txt",
    "!! x",
    "?? y",
    "mixed/c.txt",
    "mixed/d.log",
    "scratch/a/b",
    "top.log",
  ])
    world.write(work, name);
  expect((await look(world, work)).status).toEqual({
    ...clean,
    untracked: ["!! x", "?? y", "mixed/c.txt", "new/a.txt", "new/deep/b.txt"],
    ignored: ["mixed/d.log", "scratch/", "top.log"],
  });
});

test("the files of a nested worktree show up one by one, as its gitfile leads nowhere here", async () => {
  const { world, work } = await makeWorktree({ seed: { ".gitignore": "*.log\n" } });
  const nested = world.addWorktree("n1", { inside: work });
  world.containerise();
  const names = ["README.md", "src/a.txt"].map((name) => `.claude/worktrees/n1/${name}`);
  expect((await look(world, work)).status.untracked).toEqual(expect.arrayContaining(names));
  expect(existsSync(join(nested, "README.md"))).toBe(true);
});

test("an embedded repository shows up as a directory, never as its files", async () => {
  const { world, work } = await makeWorktree();
  world.git(world.root, "init", "-q", join(work, "tool"));
  world.write(work, "tool/a.txt");
  expect((await look(world, work)).status.untracked).toEqual(["tool/"]);
});

test.each([[["--assume-unchanged"]], [["--skip-worktree"]], [["--assume-unchanged", "--skip-worktree"]]])(
  "an edit hidden by %j is seen",
  async (bits) => {
    const { world, work } = await makeWorktree();
    for (const bit of bits) world.git(work, "update-index", bit, "README.md", "src/a.txt");
    world.write(work, "README.md", "hidden\n");
    world.write(work, "src/a.txt", "hidden\n");
    expect(world.git(work, "status", "--porcelain")).toBe("");
    expect((await look(world, work)).status.changed).toEqual(["README.md", "src/a.txt"]);
  },
);

test("an edit hidden by core.ignoreStat is seen", async () => {
  const { world, work } = await makeWorktree();
  world.git(world.main.clone, "config", "core.ignoreStat", "true");
  world.git(work, "read-tree", "-u", "--reset", "HEAD~0");
  world.commit(work, "hidden.txt", "one\n");
  world.write(work, "hidden.txt", "two, longer\n");
  expect(world.git(work, "status", "--porcelain")).toBe("");
  expect((await look(world, work)).status.changed).toEqual(["hidden.txt"]);
});

test("a removal hidden by assume-unchanged is seen", async () => {
  const { world, work } = await makeWorktree();
  world.git(work, "update-index", "--assume-unchanged", "README.md");
  rmSync(join(work, "README.md"));
  expect((await look(world, work)).status.changed).toEqual(["README.md"]);
});

test("a hidden edit of a file whose name holds a line break or a quote is seen", async () => {
  const { world, work } = await makeWorktree();
  const names = ["a\nb.txt", 'c "d".txt', "\té"];
  for (const name of names) world.commit(work, name, "one\n");
  world.git(work, "update-index", "--skip-worktree", ...names);
  for (const name of names) world.write(work, name, "two, longer\n");
  expect(new Set((await look(world, work)).status.changed)).toEqual(new Set(names));
});

test.each([[["--no-cone", "/README.md"]], [["--cone", "docs"]]])(
  "files outside a sparse checkout %j are no deletions",
  async (pattern) => {
    const { world, work } = await makeWorktree({ seed: { "docs/a.md": "docs\n" } });
    world.git(work, "sparse-checkout", "set", ...pattern);
    expect(existsSync(join(work, "src/a.txt"))).toBe(false);
    expect((await look(world, work)).status.changed).toEqual([]);
  },
);

test("a sparse index is refused: to expand it, git would change the times of the clone's objects", async () => {
  const { world, work } = await makeWorktree({ seed: { "docs/a.md": "docs\n" } });
  world.git(work, "sparse-checkout", "set", "--cone", "--sparse-index", "docs");
  const { tools } = await stagesOf(world);
  await expect(privateGitDirOf(world, tools, work)).rejects.toThrow("sparse index");
});

test("an edited file that lies outside the sparse checkout is seen, though git was told to expect such", async () => {
  const { world, work } = await makeWorktree();
  world.git(work, "sparse-checkout", "set", "--no-cone", "/README.md");
  world.git(work, "config", "sparse.expectFilesOutsideOfPatterns", "true");
  world.write(work, "src/a.txt", "edited outside\n");
  expect(world.git(work, "status", "--porcelain")).toBe("");
  expect((await look(world, work)).status.changed).toEqual(["src/a.txt"]);
});

test("a split index is read with the part that it shares", async () => {
  const { world, work } = await makeWorktree();
  world.git(work, "update-index", "--split-index");
  world.write(work, "README.md", "edited\n");
  expect((await look(world, work)).status.changed).toEqual(["README.md"]);
});

test("a split index whose shared part is gone gives no answer", async () => {
  const { world, work } = await makeWorktree();
  world.git(work, "update-index", "--split-index");
  execFileSync("sh", ["-c", `rm ${JSON.stringify(world.adminDirectory(work))}/sharedindex.*`]);
  await expect(look(world, work)).rejects.toThrow("sharedindex");
});

test("a corrupt index gives no answer", async () => {
  const { world, work } = await makeWorktree();
  writeFileSync(join(world.adminDirectory(work), "index"), "corrupt");
  await expect(look(world, work)).rejects.toThrow("index");
});

test("an index that somebody is about to write is read as it is", async () => {
  const { world, work } = await makeWorktree();
  writeFileSync(join(world.adminDirectory(work), "index.lock"), "");
  world.write(work, "README.md", "edited\n");
  expect((await look(world, work)).status.changed).toEqual(["README.md"]);
});

/** What a person can tell git not to look at → what the clone's configuration says for it, and what is seen all the same. */
const LIES: Readonly<
  Record<
    string,
    { config: Record<string, string>; act: (world: World, work: string) => unknown; seen: Partial<StatusFacts> }
  >
> = {
  "untracked files": {
    config: { "status.showUntrackedFiles": "no" },
    act: (world, work) => world.write(work, "notes.md"),
    seen: { untracked: ["notes.md"] },
  },
  modes: {
    config: { "core.fileMode": "false" },
    act: (_, work) => chmodSync(join(work, "README.md"), 0o755),
    seen: { changed: ["README.md"] },
  },
  "changes that left size and mtime alone": {
    config: { "core.trustctime": "false", "core.checkStat": "minimal" },
    act: async (_, work) => {
      // In the second in which the index was written, the ctime does not tell either.
      await setTimeout(1100);
      const { atime, mtime } = statSync(join(work, "pixi.toml"));
      const text = execFileSync("cat", [join(work, "pixi.toml")], { encoding: "utf8" });
      writeFileSync(join(work, "pixi.toml"), text.replace("seed", "weed"));
      utimesSync(join(work, "pixi.toml"), atime, mtime);
    },
    seen: { changed: ["pixi.toml"] },
  },
  "what it remembers of untracked files": {
    config: { "core.untrackedCache": "true" },
    act: (world, work) => world.write(work, "notes.md"),
    seen: { untracked: ["notes.md"] },
  },
  "what is under another path": {
    config: { "core.worktree": "/nonexistent" },
    act: (world, work) => world.write(work, "notes.md"),
    seen: { untracked: ["notes.md"] },
  },
};

test.each(Object.entries(LIES))(
  "%s are seen, whatever the clone's configuration says",
  async (_, { config, act, seen }) => {
    const { world, work } = await makeWorktree();
    await act(world, work);
    const { tools } = await stagesOf(world);
    const dir = await privateGitDirOf(world, tools, work);
    for (const [name, value] of Object.entries(config)) world.git(world.main.clone, "config", name, value);
    await readIndex(tools.git, dir, work);
    expect(await readStatus(tools.git, dir, work)).toMatchObject(seen);
  },
);

test("what a directory monitor did not report is seen, though the index calls it unchanged", async () => {
  const { world, work } = await makeWorktree();
  const script = world.write(world.root, "monitor.sh", "#!/bin/sh\nprintf 'token\\0'\n");
  chmodSync(script, 0o755);
  world.git(world.main.clone, "config", "core.fsmonitor", script);
  world.git(work, "status");
  world.git(work, "status");
  world.write(work, "README.md", "edited\n");
  expect(world.git(work, "status", "--porcelain")).toBe("");
  expect((await look(world, work)).status.changed).toEqual(["README.md"]);
});

test("exclude files of the clone hide nothing", async () => {
  const { world, work } = await makeWorktree();
  world.git(world.main.clone, "config", "core.excludesFile", world.write(world.root, "excludes", "*.md\n"));
  world.write(world.main.clone, ".git/info/exclude", "*.md\n");
  world.write(work, "notes.md");
  expect((await look(world, work)).status.untracked).toEqual(["notes.md"]);
});

test.each([".gitattributes", "info/attributes"])(
  "a filter that %s asks for does not run, nor hide what it would",
  async (where) => {
    const { world, work } = await makeWorktree();
    const ran = join(world.root, "RAN");
    const script = world.write(
      world.root,
      "trap.sh",
      `#!/bin/sh\ntouch '${ran}'\ngit -C '${work}' cat-file blob HEAD:src/a.txt\n`,
    );
    chmodSync(script, 0o755);
    world.git(world.main.clone, "config", "filter.trap.clean", script);
    if (where === ".gitattributes") world.write(work, where, "*.txt filter=trap\n");
    else world.write(world.main.clone, ".git/info/attributes", "*.txt filter=trap\n");
    const text = execFileSync("cat", [join(work, "src/a.txt")], { encoding: "utf8" });
    world.write(work, "src/a.txt", text.replace("a line", "A LINE"));
    expect(world.git(work, "status", "--porcelain", "-uno")).toBe("");
    rmSync(ran);
    expect((await look(world, work)).status.changed).toEqual(["src/a.txt"]);
    expect(existsSync(ran)).toBe(false);
  },
);

test.each([[[]], [["--assume-unchanged"]]])(
  "an edit of the same size in the second in which the index was written is seen, other bits %j or not",
  async (bits) => {
    const { world, work } = await makeWorktree({ settle: false });
    for (let isRacy = false; !isRacy;) {
      await setTimeout(1010 - (Date.now() % 1000));
      world.commit(work, "version.txt", `1 ${performance.now()}\n`.slice(0, 8));
      for (const bit of bits) world.git(work, "update-index", bit, "version.txt");
      world.write(work, "version.txt", "2 edited");
      const second = (path: string): number => Math.floor(statSync(path).mtimeMs / 1000);
      isRacy = second(join(work, "version.txt")) === second(join(world.adminDirectory(work), "index"));
    }
    await setTimeout(1100);
    expect((await look(world, work)).status.changed).toEqual(["version.txt"]);
  },
);

test("submodules are seen when they are at another commit", async () => {
  const { world, work } = await makeWorktree();
  world.git(work, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", world.main.forge, "sub");
  world.git(work, "commit", "-q", "-m", "a submodule");
  expect((await look(world, work)).status.changed).toEqual([]);
  world.git(world.root, "-C", join(work, "sub"), "commit", "-q", "--allow-empty", "-m", "new");
  world.git(work, "config", "diff.ignoreSubmodules", "all");
  world.git(work, "config", "submodule.sub.ignore", "all");
  expect((await look(world, work)).status.changed).toEqual(["sub"]);
});

test("tells which directories hold tracked files, and remembers the tracked files it was asked to", async () => {
  const { world, work } = await makeWorktree();
  world.commit(work, "packages/one/package.json", "{}\n");
  world.write(work, "packages/two/package.json", "{}\n");
  mkdirSync(join(work, "empty"));
  expect((await look(world, work)).index).toEqual({
    trackedDirectories: new Set(["", "src", "packages", "packages/one"]),
    remembered: new Set(["package.json", "packages/one/package.json"]),
  });
});

test("an index without entries tracks nothing", async () => {
  const { world, work } = await makeWorktree();
  world.git(work, "rm", "-q", "-r", "--cached", ".");
  expect((await look(world, work)).index).toEqual({ trackedDirectories: new Set(), remembered: new Set() });
});
