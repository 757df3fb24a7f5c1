import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runChild, startChild } from "../../src/system/child.ts";
import { temporaryDirectory } from "../helpers/temporary.ts";

const env = { PATH: "/usr/bin:/bin" };
const sh = (script: string, options = {}) => runChild("/bin/sh", ["-c", script], { env, ...options });

test("a program is told with all that it wrote and how it ended", async () => {
  const { stdout, words, exitCode, failure } = await sh("printf 'a\\0b\\n'; echo '  complaint  ' >&2; exit 3");
  expect({ stdout: stdout.toString(), words, exitCode, failure }).toEqual({
    stdout: "a\0b\n",
    words: "complaint",
    exitCode: 3,
    failure: null,
  });
});

test("a program stands in / and sees none of the caller's environment", async () => {
  process.env["DL_SECRET"] = "1";
  try {
    const { stdout } = await runChild("/usr/bin/env", [], { env });
    expect(stdout.toString()).toBe("PATH=/usr/bin:/bin\n");
  } finally {
    delete process.env["DL_SECRET"];
  }
  expect((await sh("/bin/pwd -P")).stdout.toString()).toBe("/\n");
});

test("a program reads its input to the end, or none", async () => {
  const input = "line\n".repeat(100_000);
  expect((await runChild("/bin/cat", [], { env, input })).stdout.toString()).toBe(input);
  expect((await runChild("/bin/cat", [], { env })).stdout).toHaveLength(0);
});

test("a program that ends before it has read everything is no failure of ours", async () => {
  const { exitCode, failure } = await sh("exec true", { input: Buffer.alloc(1024 * 1024) });
  expect({ exitCode, failure }).toEqual({ exitCode: 0, failure: null });
});

test.each([
  ["is not there", "/nonexistent/program", []],
  ["may not be run", "/etc/passwd", []],
  ["has an argument that no program can have", "/bin/true", ["a\0b"]],
  ["has more arguments than the system takes", "/bin/true", [`${"x".repeat(3 * 1024 * 1024)}`]],
])("a program that %s did not end by itself", async (_, program, args) => {
  const { exitCode, failure, stdout } = await runChild(program, args, { env });
  expect({ exitCode, stdout: stdout.length }).toEqual({ exitCode: null, stdout: 0 });
  expect(failure).toMatch(/ENOENT|EACCES|null bytes|E2BIG/);
});

test("a program that a signal ended says which", async () => {
  expect(await sh("kill -TERM $$")).toMatchObject({ exitCode: null, failure: "was ended by SIGTERM" });
});

test("a program that takes too long is killed and not waited for, nor is what holds its pipe", async () => {
  const directory = await temporaryDirectory();
  const pids = join(directory, "pids");
  const started = Date.now();
  const { exitCode, failure } = await sh(`trap '' TERM; sleep 60 & echo "$$ $!" >${pids}; wait`, { timeLimitMs: 300 });
  expect({ exitCode, failure }).toEqual({ exitCode: null, failure: "took longer than 0.3 seconds" });
  expect(Date.now() - started).toBeLessThan(10_000);
  const [shell, sleeper] = readFileSync(pids, "utf8").trim().split(" ").map(Number);
  if (shell === undefined || sleeper === undefined) throw new Error("the program said nothing");
  process.kill(sleeper, "SIGKILL");
  await expect.poll(() => isRunning(shell)).toBe(false);
});

test("an aborted signal ends a program", async () => {
  const abort = new AbortController();
  const running = sh("exec sleep 60", { signal: abort.signal });
  abort.abort();
  expect((await running).exitCode).toBe(null);
});

test("of a flood of complaints the start is kept, and that there was more is to be seen", async () => {
  const { words } = await sh("yes complaint | head -n 100000 >&2");
  expect(words.length).toBeLessThan(70_000);
  expect(words).toMatch(/^complaint\n/);
  expect(words).toMatch(/…$/);
});

test("a descriptor of ours is the program's third", async () => {
  const path = join(await temporaryDirectory(), "file");
  writeFileSync(path, "");
  const descriptor = openSync(path, "a");
  try {
    await sh("echo heard >&3", { descriptor });
  } finally {
    closeSync(descriptor);
  }
  expect(readFileSync(path, "utf8")).toBe("heard\n");
});

test("a program whose output is no longer read ends", async () => {
  const { stdout, ended } = startChild("/usr/bin/yes", [], { env });
  for await (const piece of stdout) {
    expect((piece as Buffer).length).toBeGreaterThan(0);
    break;
  }
  expect((await ended).exitCode).not.toBe(0);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return existsSync(`/proc/${pid}`) ? !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")) : true;
  } catch {
    return false;
  }
}
