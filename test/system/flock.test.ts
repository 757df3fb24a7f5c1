import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdirSync, openSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dir, setGracefulCleanup } from "tmp-promise";
import { expect, onTestFinished, test } from "vitest";
import { KnownError } from "../../src/errors.ts";
import { lockFile, requireFlock, tryLockFile, type HeldLock } from "../../src/system/flock.ts";
import { Programs } from "../../src/system/programs.ts";

setGracefulCleanup();

const programs = new Programs(process.env["PATH"], "/nonexistent");
const hasFlock = programs.find("flock") !== null;

async function temporary(): Promise<string> {
  const { path } = await dir({ unsafeCleanup: true });
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Another process that holds the lock of a file until it is let go. */
async function heldElsewhere(path: string): Promise<() => Promise<void>> {
  const holder = spawn("flock", ["-x", path, "sh", "-c", "echo held; read line"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = once(holder, "exit");
  const letGo = async (): Promise<void> => {
    holder.stdin.end("\n");
    await ended;
  };
  onTestFinished(letGo);
  await once(holder.stdout, "data");
  return letGo;
}

function isFreeForOthers(path: string): boolean {
  return spawnSync("flock", ["-n", path, "true"]).status === 0;
}

/** Starts to take the lock, and returns when it waits. */
async function waiting(
  path: string,
  signal = new AbortController().signal,
): Promise<{ taken: Promise<HeldLock>; waits: () => number }> {
  let waits = 0;
  let taken: Promise<HeldLock> | undefined;
  await new Promise<void>((resolve) => {
    const onWait = (): void => {
      waits++;
      resolve();
    };
    taken = lockFile(path, programs, { signal, onWait });
  });
  // Until the program that waits has started.
  await sleep(200);
  if (taken === undefined) throw new Error("Assertion failed: it was started");
  return { taken, waits: () => waits };
}

const untilTaken = { signal: new AbortController().signal, onWait: () => expect.unreachable("nobody holds it") };

test.skipIf(!hasFlock)("keeps others out until it is released", async () => {
  const path = join(await temporary(), ".lock");
  const lock = await lockFile(path, programs, untilTaken);
  expect(isFreeForOthers(path)).toBe(false);
  expect(await tryLockFile(path, programs)).toBeNull();
  await lock.release();
  expect(isFreeForOthers(path)).toBe(true);
  await lock.release();
  const again = await tryLockFile(path, programs);
  expect(isFreeForOthers(path)).toBe(false);
  await again?.release();
  expect(isFreeForOthers(path)).toBe(true);
});

test.skipIf(!hasFlock)("takes the lock on a descriptor of any number", async () => {
  for (let i = 0; i < 20; i++) openSync("/dev/null", "r");
  const path = join(await temporary(), ".lock");
  const lock = await lockFile(path, programs, untilTaken);
  expect(isFreeForOthers(path)).toBe(false);
  await lock.release();
});

test.skipIf(!hasFlock)(
  "makes the file for this user alone, and never touches the content of one that is there",
  async () => {
    const root = await temporary();
    const made = await lockFile(join(root, "made"), programs, untilTaken);
    await made.release();
    expect(lstatSync(join(root, "made")).mode & 0o7777).toBe(0o600);

    writeFileSync(join(root, "there"), "pid 42\n", { mode: 0o644 });
    const before = lstatSync(join(root, "there"));
    const there = await lockFile(join(root, "there"), programs, untilTaken);
    await there.release();
    expect(readFileSync(join(root, "there"), "utf8")).toBe("pid 42\n");
    expect(lstatSync(join(root, "there"))).toMatchObject({
      mode: before.mode,
      mtimeMs: before.mtimeMs,
      ino: before.ino,
    });
  },
);

test.skipIf(!hasFlock)("waits for another process, and says so once", async () => {
  const path = join(await temporary(), ".lock");
  const letGo = await heldElsewhere(path);
  expect(await tryLockFile(path, programs)).toBeNull();
  const { taken, waits } = await waiting(path);
  await letGo();
  const lock = await taken;
  expect(waits()).toBe(1);
  expect(isFreeForOthers(path)).toBe(false);
  await lock.release();
  expect(isFreeForOthers(path)).toBe(true);
});

test.skipIf(!hasFlock)("stops waiting with the signal's reason, and leaves the lock with its holder", async () => {
  const path = join(await temporary(), ".lock");
  const letGo = await heldElsewhere(path);
  const controller = new AbortController();
  const { taken } = await waiting(path, controller.signal);
  controller.abort(new Error("interrupted"));
  await expect(taken).rejects.toThrow("interrupted");
  expect(isFreeForOthers(path)).toBe(false);
  await letGo();
  expect(isFreeForOthers(path)).toBe(true);
});

test.skipIf(!hasFlock)("takes nothing once the signal has aborted", async () => {
  const path = join(await temporary(), ".lock");
  const options = { ...untilTaken, signal: AbortSignal.abort(new Error("too late")) };
  await expect(lockFile(path, programs, options)).rejects.toThrow("too late");
  expect(isFreeForOthers(path)).toBe(true);
});

test.skipIf(!hasFlock)("locks the file that has the name, when it was replaced while it was waited for", async () => {
  const root = await temporary();
  const path = join(root, ".lock");
  const letGo = await heldElsewhere(path);
  const { taken, waits } = await waiting(path);
  renameSync(path, join(root, "old"));
  writeFileSync(path, "");
  const letGoOfNew = await heldElsewhere(path);
  await letGo();
  await sleep(200);
  expect(isFreeForOthers(join(root, "old"))).toBe(true);
  await letGoOfNew();
  const lock = await taken;
  expect(waits()).toBe(1);
  expect(isFreeForOthers(path)).toBe(false);
  await lock.release();
});

test.skipIf(!hasFlock)("makes the file anew when it went while it was waited for", async () => {
  const root = await temporary();
  const path = join(root, ".lock");
  const letGo = await heldElsewhere(path);
  const { taken } = await waiting(path);
  await rm(path);
  await letGo();
  const lock = await taken;
  expect(isFreeForOthers(path)).toBe(false);
  await lock.release();
});

test.skipIf(!hasFlock)("refuses a link, a directory, a FIFO and a device, and waits for none of them", async () => {
  const root = await temporary();
  writeFileSync(join(root, "target"), "");
  symlinkSync("target", join(root, "link"));
  symlinkSync("missing", join(root, "dangling"));
  mkdirSync(join(root, "directory"));
  spawnSync("mkfifo", [join(root, "fifo")]);
  for (const [name, words] of [
    ["link", "is a symbolic link"],
    ["dangling", "is a symbolic link"],
    ["directory", "is a directory"],
    ["fifo", "is not a regular file"],
    ["/dev/null", "is not a regular file"],
  ] as const) {
    const path = name.startsWith("/") ? name : join(root, name);
    await expect(lockFile(path, programs, untilTaken)).rejects.toThrow(words);
    await expect(tryLockFile(path, programs)).rejects.toThrow(words);
  }
  expect(lstatSync(join(root, "missing"), { throwIfNoEntry: false })).toBeUndefined();
});

test("says what to install where there is no flock, and that nothing was touched", async () => {
  const root = await temporary();
  const path = join(root, ".lock");
  const nothing = new Programs(root, "/nonexistent");
  for (const taking of [lockFile(path, nothing, untilTaken), tryLockFile(path, nothing)]) {
    await expect(taking).rejects.toBeInstanceOf(KnownError);
    await expect(taking).rejects.toThrow(/`flock`.*Nothing was touched.*util-linux.*brew install flock/);
  }
  expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined();
  expect(() => requireFlock(nothing)).toThrow(KnownError);
});

test("takes a flock that complains for no answer", async () => {
  const root = await temporary();
  writeFileSync(join(root, "flock"), "#!/bin/sh\necho 'flock: 3: No locks available' >&2\nexit 1\n", { mode: 0o755 });
  const complaining = new Programs(root, "/nonexistent");
  await expect(tryLockFile(join(root, ".lock"), complaining)).rejects.toThrow(
    "could not be taken: flock: 3: No locks available",
  );
  await expect(lockFile(join(root, ".lock"), complaining, untilTaken)).rejects.toThrow("No locks available");
});
