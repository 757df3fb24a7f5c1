import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import { KnownError } from "../../src/errors.ts";
import { Git, GitError, splitLines, splitNul } from "../../src/git/run.ts";
import { Programs } from "../../src/system/programs.ts";
import { temporaryDirectory, temporaryWorld } from "../helpers/temporary.ts";

const git = (): Git => new Git(new Programs(process.env["PATH"], "/nonexistent"));
const gitDirOf = (world: World): string => join(world.main.clone, ".git");

function setVariable(name: string, value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  onTestFinished(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}

/** Writes a program that leaves a file behind when it runs, and says where that file would be. */
function trap(world: World, output = ""): { readonly script: string; readonly ran: string } {
  const ran = join(world.root, "RAN");
  const script = world.write(world.root, "trap.sh", `#!/bin/sh\ntouch '${ran}'\n${output}\n`);
  chmodSync(script, 0o755);
  return { script, ran };
}

/** Puts a program called git on a PATH of its own. */
function programCalledGit(world: World, script: string): Git {
  chmodSync(world.write(world.root, "bin/git", `#!/bin/sh\n${script}\n`), 0o755);
  return new Git(new Programs(`${join(world.root, "bin")}:/usr/bin:/bin`, "/nonexistent"));
}

test.each([
  [{ GIT_INDEX_FILE: "/nonexistent/index" }],
  [{ GIT_OBJECT_DIRECTORY: "/nonexistent/objects" }],
  [{ GIT_COMMON_DIR: "/nonexistent/common" }],
  [{ GIT_DIR: "/nonexistent/.git", GIT_WORK_TREE: "/nonexistent" }],
  [{ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.bare", GIT_CONFIG_VALUE_0: "nonsense" }],
  [{ GIT_CONFIG_PARAMETERS: "'core.bare'='nonsense'" }],
  [{ GIT_LITERAL_PATHSPECS: "nonsense" }],
  [{ GIT_TRACE: "1" }],
] as readonly [Record<string, string>][])("an inherited %j changes no answer", async (variables) => {
  const world = await temporaryWorld();
  world.write(world.main.clone, "new.txt");
  for (const [name, value] of Object.entries(variables)) setVariable(name, value);
  const { stdout } = await git().run({
    gitDir: gitDirOf(world),
    workTree: world.main.clone,
    args: ["status", "--porcelain", "--", "*.txt"],
  });
  expect(stdout.toString()).toBe("?? new.txt\n");
});

test("the environment is built from empty", async () => {
  const world = await temporaryWorld();
  setVariable("DL_TEST_INHERITED", "1");
  const { stdout } = await programCalledGit(world, "exec /usr/bin/env").run({
    gitDir: "/x",
    args: [],
    env: { GIT_ALLOW_PROTOCOL: "file" },
  });
  // A shell adds these of its own.
  const own = new Set(["PWD", "SHLVL", "_", "OLDPWD"]);
  const entries = splitLines(stdout).map((line) => [
    line.slice(0, line.indexOf("=")),
    line.slice(line.indexOf("=") + 1),
  ]);
  expect(Object.fromEntries(entries.filter(([name = ""]) => !own.has(name)))).toEqual({
    PATH: `${join(world.root, "bin")}:/usr/bin:/bin`,
    HOME: "/nonexistent",
    XDG_CONFIG_HOME: "/nonexistent",
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "file",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    SSH_ASKPASS: "/bin/false",
    GIT_SSH_COMMAND: "/bin/false",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_GRAFT_FILE: "/dev/null",
    GIT_PAGER: "cat",
    GIT_AUTHOR_NAME: "dl",
    GIT_AUTHOR_EMAIL: "dl@localhost",
    GIT_COMMITTER_NAME: "dl",
    GIT_COMMITTER_EMAIL: "dl@localhost",
  });
});

test("the caller's own git configuration is not in force", async () => {
  const world = await temporaryWorld();
  const { script, ran } = trap(world);
  const home = join(world.root, "hostile-home");
  world.write(
    home,
    ".gitconfig",
    `[core]\n\tfsmonitor = ${script}\n\texcludesFile = ${world.write(home, "x", "*\n")}\n`,
  );
  setVariable("HOME", home);
  setVariable("XDG_CONFIG_HOME", join(home, ".config"));
  world.write(world.main.clone, "new.txt");
  const call = { gitDir: gitDirOf(world), workTree: world.main.clone, args: ["status", "--porcelain"] };
  expect((await git().run(call)).stdout.toString()).toBe("?? new.txt\n");
  expect(existsSync(ran)).toBe(false);
});

test("what git says on standard error is an error, whatever its exit code", async () => {
  const world = await temporaryWorld();
  writeFileSync(join(gitDirOf(world), "refs/heads/broken"), "no object id\n");
  const call = { gitDir: gitDirOf(world), args: ["for-each-ref", "refs/heads"] };
  expect(world.tryGit(world.main.clone, ...call.args).status).toBe(0);
  await expect(git().run(call)).rejects.toThrow("broken");
});

test("a directory that git cannot read is an error, though status exits 0 and prints nothing", async () => {
  const world = await temporaryWorld();
  world.write(world.main.clone, "private/work.txt");
  for (let path = world.main.clone; path !== dirname(world.root); path = dirname(path)) chmodSync(path, 0o755);
  chmodSync(join(world.main.clone, "private"), 0);
  // root may read everything: git is started as somebody else then.
  const isRoot = process.getuid?.() === 0;
  const somebody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups git-of-the-system";
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const own = isRoot ? programCalledGit(world, somebody.replace("git-of-the-system", `${real} "$@"`)) : git();
  const call = { gitDir: gitDirOf(world), workTree: world.main.clone, args: ["status", "--porcelain", "-uall"] };
  await expect(own.run(call)).rejects.toThrow("could not open directory 'private/': Permission denied");
});

test("an exit code that was not expected is an error with git's words", async () => {
  const directory = await temporaryDirectory();
  const failure = git().run({ gitDir: join(directory, "missing"), args: ["rev-parse", "HEAD"] });
  await expect(failure).rejects.toBeInstanceOf(GitError);
  await expect(failure).rejects.toThrow("not a git repository");
});

test("an exit code without words is an error that names it", async () => {
  const world = await temporaryWorld();
  const failure = git().run({ gitDir: gitDirOf(world), args: ["symbolic-ref", "-q", "NOTHING"] });
  await expect(failure).rejects.toThrow("git ended with exit code 1");
});

test("an exit code that the caller expects is an answer", async () => {
  const world = await temporaryWorld();
  const call = { gitDir: gitDirOf(world), args: ["symbolic-ref", "-q", "NOTHING"], exitCodes: [0, 1] };
  expect(await git().run(call)).toEqual({ exitCode: 1, stdout: Buffer.from("") });
});

test("an expected exit code does not excuse words on standard error", async () => {
  const world = await temporaryWorld();
  const own = programCalledGit(world, "echo half an answer; echo warning: careful >&2; exit 1");
  await expect(own.run({ gitDir: "/x", args: [], exitCodes: [0, 1] })).rejects.toThrow("warning: careful");
});

test("a git that is killed gave no answer", async () => {
  const world = await temporaryWorld();
  const own = programCalledGit(world, "echo half an answer; kill -9 $$");
  await expect(own.run({ gitDir: "/x", args: [] })).rejects.toBeInstanceOf(GitError);
});

test("a git that cannot be started gave no answer", async () => {
  const world = await temporaryWorld();
  const own = programCalledGit(world, "true");
  rmSync(join(world.root, "bin/git"));
  await expect(own.run({ gitDir: "/x", args: [] })).rejects.toBeInstanceOf(GitError);
});

test("an explicit git directory is never searched for further up", async () => {
  const world = await temporaryWorld();
  const inner = join(world.main.clone, "inner");
  mkdirSync(join(inner, ".git"), { recursive: true });
  const failure = git().run({ gitDir: join(inner, ".git"), workTree: inner, args: ["status", "--porcelain"] });
  await expect(failure).rejects.toThrow("not a git repository");
});

test("a core.worktree of the clone's leads git nowhere", async () => {
  const world = await temporaryWorld();
  const elsewhere = world.write(world.root, "elsewhere/secret.txt");
  world.git(world.main.clone, "config", "core.worktree", dirname(elsewhere));
  const { stdout } = await git().run({ gitDir: gitDirOf(world), args: ["ls-files", "--others"] });
  expect(splitLines(stdout)).not.toContain("secret.txt");
});

/** Where a FIFO makes git wait for ever. */
const WAITS: Readonly<Record<string, (world: World, work: string) => string>> = {
  ".gitignore": (_, work) => join(work, "src/.gitignore"),
  index: (world, work) => join(world.adminDirectory(work), "index"),
  HEAD: (world, work) => join(world.adminDirectory(work), "HEAD"),
  "included configuration": (world) => {
    world.git(world.main.clone, "config", "include.path", join(world.root, "fifo"));
    return join(world.root, "fifo");
  },
};

test.each(Object.entries(WAITS))("a FIFO as %s costs the time limit and no more", async (_, place) => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const gitDir = world.adminDirectory(work);
  const fifo = place(world, work);
  rmSync(fifo, { force: true });
  execFileSync("mkfifo", [fifo]);
  const call = { gitDir, workTree: work, args: ["status", "--porcelain", "-uall"], timeLimitMs: 500 };
  const started = performance.now();
  await expect(git().run(call)).rejects.toThrow("git took longer than 0.5 seconds");
  expect(performance.now() - started).toBeLessThan(10_000);
});

/** What a clone may name to be run → how it is planted, and a command that runs it when nothing is in the way. */
const HOSTILE: Readonly<Record<string, { plant: (world: World, script: string) => void; args: readonly string[] }>> = {
  "core.fsmonitor": {
    plant: (world, script) => world.git(world.main.clone, "config", "core.fsmonitor", script),
    args: ["status", "--porcelain"],
  },
  "an included core.fsmonitor": {
    plant: (world, script) =>
      world.git(
        world.main.clone,
        "config",
        "include.path",
        world.write(world.root, "included", `[core]\n\tfsmonitor = ${script}\n`),
      ),
    args: ["status", "--porcelain"],
  },
  "a hook": {
    plant: (world, script) => {
      mkdirSync(join(gitDirOf(world), "hooks"), { recursive: true });
      execFileSync("cp", [script, join(gitDirOf(world), "hooks/reference-transaction")]);
    },
    args: ["update-ref", "refs/heads/new", "HEAD"],
  },
  "a hook by core.hooksPath": {
    plant: (world, script) => {
      mkdirSync(join(world.root, "hooks"));
      symlinkSync(script, join(world.root, "hooks/reference-transaction"));
      world.git(world.main.clone, "config", "core.hooksPath", join(world.root, "hooks"));
    },
    args: ["update-ref", "refs/heads/new", "HEAD"],
  },
};

test.each(Object.entries(HOSTILE))("%s of a clone never runs", async (_, { plant, args }) => {
  const world = await temporaryWorld();
  const { script, ran } = trap(world);
  plant(world, script);
  world.tryGit(world.main.clone, ...args);
  expect(existsSync(ran)).toBe(true);
  rmSync(ran);
  world.tryGit(world.main.clone, "update-ref", "-d", "refs/heads/new");
  rmSync(ran, { force: true });
  await git().run({ gitDir: gitDirOf(world), workTree: world.main.clone, args });
  expect(existsSync(ran)).toBe(false);
});

test("an object that is missing is never fetched, whatever command the clone names for it", async () => {
  const world = await temporaryWorld();
  const { script, ran } = trap(world);
  const { clone } = world.main;
  const settings = {
    "core.repositoryFormatVersion": "1",
    "extensions.partialClone": "evil",
    "remote.evil.promisor": "true",
    "remote.evil.url": `ext::${script}`,
    "protocol.ext.allow": "always",
  };
  for (const [name, value] of Object.entries(settings)) world.git(clone, "config", name, value);
  const args = ["cat-file", "-p", "1".repeat(40)];
  world.tryGit(clone, ...args);
  expect(existsSync(ran)).toBe(true);
  rmSync(ran);
  await expect(git().run({ gitDir: gitDirOf(world), args })).rejects.toBeInstanceOf(GitError);
  expect(existsSync(ran)).toBe(false);
});

test("a pager or an alias of the clone's is not asked", async () => {
  const world = await temporaryWorld();
  const { script, ran } = trap(world);
  world.git(world.main.clone, "config", "core.pager", script);
  world.git(world.main.clone, "config", "pager.status", "true");
  world.git(world.main.clone, "config", "alias.rev-parse", `!${script}`);
  for (const args of [
    ["status", "--porcelain"],
    ["rev-parse", "HEAD"],
    ["-p", "log"],
  ])
    await git().run({ gitDir: gitDirOf(world), workTree: world.main.clone, args });
  expect(existsSync(ran)).toBe(false);
});

test("an exclude file that the clone's configuration names hides nothing", async () => {
  const world = await temporaryWorld();
  world.git(world.main.clone, "config", "core.excludesFile", world.write(world.root, "excludes", "*.txt\n"));
  world.write(world.main.clone, "new.txt");
  const call = { gitDir: gitDirOf(world), workTree: world.main.clone, args: ["status", "--porcelain"] };
  expect((await git().run(call)).stdout.toString()).toBe("?? new.txt\n");
});

test("reading a worktree's status does not refresh its index", async () => {
  const world = await temporaryWorld({ settle: false });
  const { clone } = world.main;
  world.write(clone, "README.md", world.git(clone, "show", "HEAD:README.md"));
  const before = world.digest(world.reposDir);
  await git().run({ gitDir: gitDirOf(world), workTree: clone, args: ["status", "--porcelain"] });
  expect(world.digest(world.reposDir)).toBe(before);
  world.git(clone, "status", "--porcelain");
  expect(world.digest(world.reposDir)).not.toBe(before);
});

test("standard input and output are bytes, not text", async () => {
  const world = await temporaryWorld();
  const content = Buffer.from([0, 0xff, 0xfe, 10, 13, 10]);
  const gitDir = gitDirOf(world);
  const { stdout } = await git().run({ gitDir, args: ["hash-object", "-w", "--stdin"], input: content });
  const object = stdout.toString().trim();
  expect((await git().run({ gitDir, args: ["cat-file", "blob", object] })).stdout).toEqual(content);
});

test("every process that was started is counted", async () => {
  const world = await temporaryWorld();
  const own = git();
  await own.version();
  await own.run({ gitDir: gitDirOf(world), args: ["rev-parse", "HEAD"] });
  await own.run({ gitDir: "/nonexistent", args: ["rev-parse", "HEAD"] }).catch(() => {});
  expect(own.started).toBe(3);
});

test.each([
  [false, "sha1"],
  [true, "sha256"],
] as const)("makes a repository from no template (sha256: %s)", async (sha256, format) => {
  const path = join(await temporaryDirectory(), "made");
  await git().init(path, sha256);
  expect(existsSync(join(path, ".git/hooks"))).toBe(false);
  const { stdout } = await git().run({ gitDir: join(path, ".git"), args: ["rev-parse", "--show-object-format"] });
  expect(stdout.toString()).toBe(`${format}\n`);
});

test("makes no repository where it cannot", async () => {
  const directory = await temporaryDirectory();
  writeFileSync(join(directory, "file"), "");
  await expect(git().init(join(directory, "file"), false)).rejects.toBeInstanceOf(GitError);
  expect(lstatSync(join(directory, "file")).isFile()).toBe(true);
});

/** Whose configuration says what → the person's default branch. */
const DEFAULT_BRANCHES: Readonly<Record<string, { files: Readonly<Record<string, string>>; is: string | null }>> = {
  "their .gitconfig": { files: { ".gitconfig": "[init]\n\tdefaultBranch = trunk\n" }, is: "trunk" },
  "their XDG configuration": { files: { ".config/git/config": "[init]\n\tdefaultBranch = trunk\n" }, is: "trunk" },
  "a file that theirs includes": {
    files: { ".gitconfig": "[include]\n\tpath = other\n", other: "[init]\n\tdefaultBranch = trunk\n" },
    is: "trunk",
  },
  nobody: { files: { ".gitconfig": "[user]\n\tname = A. Gent\n" }, is: null },
  "an empty value": { files: { ".gitconfig": "[init]\n\tdefaultBranch =\n" }, is: null },
};

test.each(Object.entries(DEFAULT_BRANCHES))(
  "the person's default branch is what is said by %s",
  async (_, { files, is }) => {
    const home = await temporaryDirectory();
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(home, name)), { recursive: true });
      writeFileSync(join(home, name), content);
    }
    expect(await git().usersDefaultBranch(home, undefined)).toBe(is);
  },
);

test("the person's XDG_CONFIG_HOME is honoured, and an empty one is none", async () => {
  const home = await temporaryDirectory();
  for (const [place, branch] of [
    ["elsewhere/git", "trunk"],
    [".config/git", "devel"],
  ] as const) {
    mkdirSync(join(home, place), { recursive: true });
    writeFileSync(join(home, place, "config"), `[init]\n\tdefaultBranch = ${branch}\n`);
  }
  expect(await git().usersDefaultBranch(home, join(home, "elsewhere"))).toBe("trunk");
  expect(await git().usersDefaultBranch(home, "")).toBe("devel");
});

test("without a home there is no default branch of a person's, and no git is started to find out", async () => {
  const own = git();
  expect(await own.usersDefaultBranch(undefined, "/x")).toBeNull();
  expect(own.started).toBe(0);
});

test.each([
  ["an empty entry", ""],
  ["the current directory", "."],
  ["a relative entry", "bin"],
  ["repos_dir itself", "<repos>"],
  ["a directory below repos_dir", "<repos>/o/r/ws/bin"],
  ["a directory below repos_dir, with a slash at its end", "<repos>/o/r/ws/bin/"],
])("a git planted under %s of PATH is never found, nor is that entry handed on", async (_, entry) => {
  const root = await temporaryDirectory();
  const repos = join(root, "repos");
  for (const place of [root, join(root, "bin"), repos, join(repos, "o/r/ws/bin")]) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "git"), "#!/bin/sh\n");
    chmodSync(join(place, "git"), 0o755);
  }
  const before = process.cwd();
  process.chdir(root);
  onTestFinished(() => process.chdir(before));
  const programs = new Programs(`${entry.replace("<repos>", repos)}:/nonexistent`, repos);
  expect(programs.find("git")).toBeNull();
  expect(programs.path).toBe("/nonexistent");
});

// repos_dir is resolved when the run begins, the entries of PATH are compared as they are written.
test.each(["<root>/link/bin", "<root>/other/../repos/bin", "<root>/./repos/bin"])(
  "a git below repos_dir is not found under another spelling of its place: %s",
  async (entry) => {
    const root = await temporaryDirectory();
    for (const directory of ["repos/bin", "other"]) mkdirSync(join(root, directory), { recursive: true });
    writeFileSync(join(root, "repos/bin/git"), "#!/bin/sh\n");
    chmodSync(join(root, "repos/bin/git"), 0o755);
    symlinkSync(join(root, "repos"), join(root, "link"));
    expect(new Programs(entry.replace("<root>", root), join(root, "repos")).find("git")).toBeNull();
  },
);

test("a git beside repos_dir is found, whose name only begins like it", async () => {
  const root = await temporaryDirectory();
  mkdirSync(join(root, "repos-bin"));
  writeFileSync(join(root, "repos-bin/git"), "#!/bin/sh\n");
  chmodSync(join(root, "repos-bin/git"), 0o755);
  expect(new Programs(join(root, "repos-bin"), join(root, "repos")).find("git")).toBe(join(root, "repos-bin/git"));
});

test("a directory or a file that may not be run is no git", async () => {
  const root = await temporaryDirectory();
  mkdirSync(join(root, "a/git"), { recursive: true });
  mkdirSync(join(root, "b"));
  writeFileSync(join(root, "b/git"), "#!/bin/sh\n");
  const failure = () => new Git(new Programs(`${root}/a:${root}/b`, "/nonexistent"));
  expect(failure).toThrow(KnownError);
  expect(failure).toThrow(
    "dl needs `git` 2.34 or newer, and no absolute entry of PATH has it. Install it and run again.",
  );
});

test.each([
  ["", []],
  ["a\0", ["a"]],
  ["a\0b", ["a", "b"]],
  ["a\nb\0\0", ["a\nb", ""]],
])("splits %j into records", (text, records) => {
  expect(splitNul(Buffer.from(text))).toEqual(records);
});

test.each([
  ["", []],
  ["a\n", ["a"]],
  ["a\n\nb", ["a", "", "b"]],
  ["\n", [""]],
])("splits %j into lines", (text, lines) => {
  expect(splitLines(Buffer.from(text))).toEqual(lines);
});
