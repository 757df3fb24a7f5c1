import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Git, GitError } from "../../src/git/run.ts";
import { isSupported } from "../../src/git/version.ts";
import { Programs } from "../../src/system/programs.ts";
import { temporaryDirectory, temporaryWorld } from "../helpers/temporary.ts";

const git = (): Git => new Git(new Programs(process.env["PATH"], "/nonexistent"));

function setVariable(name: string, value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  onTestFinished(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}

test("a GIT_DIR of the caller's does not redirect it", async () => {
  const world = await temporaryWorld();
  setVariable("GIT_DIR", join(world.root, "elsewhere"));
  setVariable("GIT_CONFIG_COUNT", "1");
  setVariable("GIT_CONFIG_KEY_0", "core.bare");
  setVariable("GIT_CONFIG_VALUE_0", "nonsense");
  const { stdout } = await git().run({
    gitDir: join(world.main.clone, ".git"),
    args: ["rev-parse", "--absolute-git-dir"],
  });
  expect(stdout.toString().trim()).toBe(join(world.main.clone, ".git"));
});

test("what git says on standard error is an error, whatever its exit code", async () => {
  const world = await temporaryWorld();
  const gitDir = join(world.main.clone, ".git");
  writeFileSync(join(gitDir, "refs/heads/broken"), "no object id\n");
  await expect(git().run({ gitDir, args: ["for-each-ref", "refs/heads"] })).rejects.toThrow("broken");
});

test("an exit code that was not expected is an error with git's words", async () => {
  const directory = await temporaryDirectory();
  const failure = git().run({ gitDir: join(directory, "missing"), args: ["rev-parse", "HEAD"] });
  await expect(failure).rejects.toBeInstanceOf(GitError);
  await expect(failure).rejects.toThrow("not a git repository");
});

test("a clone that makes git wait costs the time limit and no more", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  execFileSync("mkfifo", [join(work, "src/.gitignore")]);
  const call = {
    gitDir: world.adminDirectory(work),
    workTree: work,
    args: ["status", "--porcelain", "-uall"],
    timeLimitMs: 700,
  };
  const started = performance.now();
  await expect(git().run(call)).rejects.toThrow("took longer");
  expect(performance.now() - started).toBeLessThan(10_000);
});

test("no hook, fsmonitor or pager of a clone runs", async () => {
  const world = await temporaryWorld();
  const gitDir = join(world.main.clone, ".git");
  const ran = join(world.root, "RAN");
  const script = world.write(world.root, "trap.sh", `#!/bin/sh\ntouch '${ran}'\n`);
  chmodSync(script, 0o755);
  for (const hook of ["post-index-change", "reference-transaction"]) {
    mkdirSync(join(gitDir, "hooks"), { recursive: true });
    execFileSync("cp", [script, join(gitDir, "hooks", hook)]);
  }
  for (const name of ["core.fsmonitor", "core.pager"]) world.git(world.main.clone, "config", name, script);
  world.tryGit(world.main.clone, "status");
  expect(existsSync(ran)).toBe(true);
  execFileSync("rm", [ran]);
  const own = git();
  await own.run({ gitDir, workTree: world.main.clone, args: ["status", "--porcelain"] });
  await own.run({ gitDir, args: ["update-ref", "refs/heads/new", "HEAD"] });
  expect(existsSync(ran)).toBe(false);
});

test("a git planted in the current directory, in a relative PATH entry or below repos_dir is never found", async () => {
  const directory = await temporaryDirectory();
  mkdirSync(join(directory, "repos/bin"), { recursive: true });
  for (const place of [directory, join(directory, "repos/bin")]) {
    writeFileSync(join(place, "git"), "#!/bin/sh\n");
    chmodSync(join(place, "git"), 0o755);
  }
  const programs = new Programs(`:.:relative:${directory}/repos/bin`, join(directory, "repos"));
  expect(programs.find("git")).toBeNull();
  expect(programs.path).toBe("");
  expect(new Programs(directory, "/elsewhere").find("git")).toBe(join(directory, "git"));
});

test.each([
  ["git version 2.34.0", true],
  ["git version 2.39.5 (Apple Git-154)", true],
  ["git version 3.0.0", true],
  ["git version 2.33.9", false],
  ["git version 1.9", false],
  ["something else", false],
])("%s is supported: %s", (text, supported) => {
  expect(isSupported(text)).toBe(supported);
});
