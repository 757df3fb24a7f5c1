import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, lstatSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { dir, setGracefulCleanup } from "tmp-promise";
import { expect, onTestFinished, test } from "vitest";
import type { Occupant } from "../../src/model/evidence.ts";
import { surveyByLsof, surveyOccupants } from "../../src/system/occupants.ts";
import { Programs } from "../../src/system/programs.ts";

setGracefulCleanup();

const programs = new Programs(process.env["PATH"], "/nonexistent");
const isLinux = process.platform === "linux";
const isRoot = process.geteuid?.() === 0;
const mayUnshare = isLinux && isRoot && spawnSync("unshare", ["-m", "true"]).status === 0;
const hasSetpriv = isLinux && isRoot && programs.find("setpriv") !== null;

/** A repos_dir with one worktree, which has a directory in it. */
async function makeWorktree(): Promise<{ readonly repos: string; readonly worktree: string; readonly nested: string }> {
  const { path } = await dir({ unsafeCleanup: true });
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  const repos = realpathSync(path);
  const worktree = join(repos, "o/r/ws/.claude/worktrees/a1");
  mkdirSync(join(worktree, "src/deep"), { recursive: true });
  return { repos, worktree, nested: join(worktree, "src/deep") };
}

/** Starts a program that says when it is ready, and ends it after the test. */
async function start(
  command: readonly string[],
  options: { cwd?: string } = {},
): Promise<ChildProcess & { readonly pid: number }> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(async () => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : null;
    child.kill("SIGKILL");
    await ended;
  });
  await once(child.stdout, "data");
  return child as unknown as ChildProcess & { readonly pid: number };
}

async function inside(repos: string, directory: string): Promise<readonly Occupant[]> {
  const { dev, ino } = lstatSync(directory);
  const survey = await surveyOccupants({ programs, reposDir: repos });
  return survey.inside({ device: dev, inode: ino }, directory);
}

/** `cat` keeps what `sh` was, and ends with its input. */
const STAY = "echo ready; exec cat";

test("sees a process whose working directory is somewhere inside", async () => {
  const { repos, worktree, nested } = await makeWorktree();
  const child = await start(["sh", "-c", STAY], { cwd: nested });
  expect(await inside(repos, nested)).toEqual([{ pid: child.pid, name: "cat" }]);
  expect(await inside(repos, worktree)).toEqual([{ pid: child.pid, name: "cat" }]);
  mkdirSync(join(repos, "o/r/ws/.claude/worktrees/a10"));
  expect(await inside(repos, join(repos, "o/r/ws/.claude/worktrees/a10"))).toEqual([]);
});

test("makes no exception for this very process", async () => {
  const { repos, worktree } = await makeWorktree();
  const script = join(repos, "survey.mjs");
  await build({
    stdin: {
      contents: `
        import { lstatSync } from "node:fs";
        import { surveyOccupants } from "./occupants.ts";
        import { Programs } from "./programs.ts";
        const [reposDir, directory] = process.argv.slice(2);
        const survey = await surveyOccupants({ programs: new Programs(process.env.PATH, reposDir), reposDir });
        const { dev, ino } = lstatSync(directory);
        console.log(JSON.stringify({ pid: process.pid, inside: survey.inside({ device: dev, inode: ino }, directory), unseen: survey.unseen }));`,
      resolveDir: fileURLToPath(new URL("../../src/system", import.meta.url)),
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: script,
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  const { stdout } = spawnSync(process.execPath, [script, repos, worktree], { cwd: worktree, encoding: "utf8" });
  const seen = JSON.parse(stdout) as { pid: number; inside: Occupant[] };
  expect(seen.inside.map(({ pid }) => pid)).toEqual([seen.pid]);
});

test.skipIf(!isLinux)("sees a process in a directory that was removed under it", async () => {
  const { repos, worktree, nested } = await makeWorktree();
  const child = await start(["sh", "-c", STAY], { cwd: nested });
  rmSync(nested, { recursive: true });
  expect(await inside(repos, worktree)).toEqual([{ pid: child.pid, name: "cat" }]);
});

test.skipIf(!mayUnshare)("sees a process of a container, which has the clone mounted by another name", async () => {
  const { repos, worktree } = await makeWorktree();
  const container = join(repos, "../", `container-${process.pid}`);
  mkdirSync(container);
  onTestFinished(() => rmSync(container, { recursive: true }));
  const script = `mount -t tmpfs none "$2" && mkdir "$2/ws" && mount --bind "$1" "$2/ws" && cd "$2/ws/.claude/worktrees/a1/src" && ${STAY}`;
  const child = await start(["unshare", "-m", "sh", "-c", script, "sh", join(repos, "o/r/ws"), container]);
  expect(await inside(repos, worktree)).toEqual([{ pid: child.pid, name: "cat" }]);
  expect(await inside(repos, join(repos, "o/r/ws"))).toEqual([{ pid: child.pid, name: "cat" }]);
  expect(await inside(repos, repos)).toEqual([]);
});

test.skipIf(!mayUnshare)("sees a process whose root is inside", async () => {
  const { repos, worktree } = await makeWorktree();
  const child = await start([
    "unshare",
    "-m",
    "sh",
    "-c",
    'mkdir "$1/bin" "$1/sys" && mount --rbind / "$1/sys" && for d in bin usr lib lib64; do rm -rf "$1/$d"; ln -s "sys/$d" "$1/$d"; done; exec chroot "$1" sh -c "echo ready; exec cat"',
    "sh",
    worktree,
  ]);
  expect((await inside(repos, worktree)).map(({ pid }) => pid)).toEqual([child.pid]);
});

test.skipIf(!isLinux)("sees a file that is open, also when it was removed, and a program that is run", async () => {
  const { repos, worktree, nested } = await makeWorktree();
  const log = join(nested, "dev.log");
  const writer = await start(["sh", "-c", `exec 5>"$1"; ${STAY}`, "sh", log], { cwd: "/" });
  expect(await inside(repos, worktree)).toEqual([{ pid: writer.pid, name: "cat" }]);
  rmSync(log);
  expect(await inside(repos, worktree)).toEqual([{ pid: writer.pid, name: "cat" }]);

  copyFileSync(realpathSync(programs.require("cat", "in this test")), join(worktree, "server"));
  chmodSync(join(worktree, "server"), 0o755);
  const server = await start(["sh", "-c", 'echo ready; exec "$1"', "sh", join(worktree, "server")], { cwd: "/" });
  await expect.poll(() => inside(repos, worktree)).toContainEqual({ pid: server.pid, name: "server" });
  expect(await inside(repos, nested)).toEqual([{ pid: writer.pid, name: "cat" }]);
});

test.skipIf(!isLinux)("says no control character of a process's name", async () => {
  const { repos, worktree } = await makeWorktree();
  const name = "ev\u001b[2Jil";
  copyFileSync(realpathSync(programs.require("cat", "in this test")), join(repos, name));
  chmodSync(join(repos, name), 0o755);
  const child = await start(["sh", "-c", 'echo ready; exec "$1"', "sh", join(repos, name)], { cwd: worktree });
  await expect.poll(() => inside(repos, worktree)).toEqual([{ pid: child.pid, name: "ev?[2Jil" }]);
});

test.skipIf(!isLinux)("counts no zombie", async () => {
  const { repos, worktree } = await makeWorktree();
  // The parent of what ends has become a program that waits for nobody.
  const parent = await start(["sh", "-c", `(cd "$1" && exec sleep 0.1) & ${STAY}`, "sh", worktree], { cwd: "/" });
  const zombies = () =>
    spawnSync("ps", ["--ppid", String(parent.pid), "-o", "stat="], { encoding: "utf8" }).stdout.trim();
  await expect.poll(zombies).toMatch(/^Z/);
  expect(await inside(repos, worktree)).toEqual([]);
});

test.skipIf(!hasSetpriv)(
  "says which processes it could not look at, and counts no thread of the kernel among them",
  async () => {
    const { repos, worktree } = await makeWorktree();
    const child = await start(["sh", "-c", STAY], { cwd: worktree });
    const kernelThreads = spawnSync("sh", ["-c", "grep -l '^Kthread:.1$' /proc/[0-9]*/status | wc -l"], {
      encoding: "utf8",
    });
    const script = join(repos, "survey.mjs");
    chmodSync(repos, 0o755);
    await build({
      stdin: {
        contents: `
        import { surveyOccupants } from "./occupants.ts";
        import { Programs } from "./programs.ts";
        const survey = await surveyOccupants({ programs: new Programs(process.env.PATH, "/nonexistent"), reposDir: process.argv[2] });
        console.log(survey.unseen);`,
        resolveDir: fileURLToPath(new URL("../../src/system", import.meta.url)),
      },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: script,
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    });
    const { stdout } = spawnSync(
      "setpriv",
      ["--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, script, repos],
      { encoding: "utf8" },
    );
    expect(stdout).toMatch(
      /^\d+ processes could not be looked at: .+ \(\d+\), .+ \(\d+\), .+ \(\d+\) and \d+ more\.\n$/,
    );
    expect(stdout).not.toContain("kthread");
    const counted = Number.parseInt(stdout, 10);
    const all = Number(spawnSync("sh", ["-c", "ls -d /proc/[0-9]* | wc -l"], { encoding: "utf8" }).stdout);
    expect(counted).toBeLessThanOrEqual(all - Number(kernelThreads.stdout));
    expect(child.pid).toBeGreaterThan(0);
  },
);

test("throws when there is no process to be seen", async () => {
  const { repos } = await makeWorktree();
  await expect(surveyOccupants({ programs, reposDir: repos, procDir: join(repos, "missing") })).rejects.toThrow(
    "ENOENT",
  );
  await expect(surveyOccupants({ programs, reposDir: repos, procDir: repos })).rejects.toThrow("lists no process");
});

test("says so when this user is shown no process but their own", async () => {
  const { repos } = await makeWorktree();
  mkdirSync(join(repos, "proc/4242/fd"), { recursive: true });
  writeFileSync(join(repos, "proc/4242/comm"), "sh\n");
  const survey = await surveyOccupants({ programs, reposDir: repos, procDir: join(repos, "proc") });
  expect(survey.unseen).toBe("Processes of other users are hidden from this user and could not be looked at.");
});

test.skipIf(programs.find("lsof") === null)("sees working directories through lsof, by their paths", async () => {
  const { worktree, nested } = await makeWorktree();
  const child = await start(["sh", "-c", STAY], { cwd: nested });
  const survey = await surveyByLsof(programs);
  const nowhere = { device: 0, inode: 0 };
  expect(survey.inside(nowhere, worktree)).toEqual([{ pid: child.pid, name: "cat" }]);
  expect(survey.inside(nowhere, join(worktree, "sr"))).toEqual([]);
  expect(survey.unseen).toBe(isRoot ? null : "Processes of other users could not be looked at.");
});

test("says that processes could not be looked at where there is no lsof", async () => {
  const { repos, worktree } = await makeWorktree();
  const survey = await surveyByLsof(new Programs(repos, "/nonexistent"));
  expect(survey.inside({ device: 0, inode: 0 }, worktree)).toEqual([]);
  expect(survey.unseen).toBe("Processes could not be looked at: no absolute entry of PATH has `lsof`.");
});

test("throws when lsof lists nothing", async () => {
  const { repos } = await makeWorktree();
  writeFileSync(join(repos, "lsof"), "#!/bin/sh\necho 'lsof: cannot' >&2\nexit 1\n", { mode: 0o755 });
  await expect(surveyByLsof(new Programs(repos, "/nonexistent"))).rejects.toThrow(
    "lsof listed no process: lsof: cannot",
  );
});
