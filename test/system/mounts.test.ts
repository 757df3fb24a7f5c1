import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { dir, setGracefulCleanup } from "tmp-promise";
import { expect, onTestFinished, test } from "vitest";
import { mountsWithin, parseMount, parseMountinfo, readMountPoints } from "../../src/system/mounts.ts";
import { Programs } from "../../src/system/programs.ts";

setGracefulCleanup();

const programs = new Programs(process.env["PATH"], "/nonexistent");
const isLinux = process.platform === "linux";
const mayMount = isLinux && process.geteuid?.() === 0 && spawnSync("unshare", ["-m", "true"]).status === 0;

async function temporary(): Promise<string> {
  const { path } = await dir({ unsafeCleanup: true });
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

test("reads the mount points of this machine", async () => {
  expect(await readMountPoints(programs)).toContain("/");
});

test("reads bind mounts, and names with blanks, newlines and backslashes in them", () => {
  const text = [
    "22 28 0:20 / /proc rw,nosuid shared:5 - proc proc rw",
    "28 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw",
    "90 28 259:2 /home/me/store /home/me/repos/o/r/ws/.claude/worktrees/a1/my\\040store rw - ext4 /dev/nvme0n1p2 rw",
    "91 28 259:2 /x /odd\\012name\\134tab\\011end rw master:1 propagate_from:2 - ext4 /dev/nvme0n1p2 rw",
    "",
  ].join("\n");
  expect(parseMountinfo(text)).toEqual([
    "/proc",
    "/",
    "/home/me/repos/o/r/ws/.claude/worktrees/a1/my store",
    "/odd\nname\\tab\tend",
  ]);
});

test("refuses a mount table that it does not understand", () => {
  expect(() => parseMountinfo("22 28 0:20 /\n")).toThrow("not understood");
  expect(() => parseMount("a line of something else\n")).toThrow("not understood");
});

test("reads what mount prints on macOS, and takes an ambiguous line for all that it can mean", () => {
  const text = [
    "/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)",
    "map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)",
    "/dev/disk5s1 on /Volumes/My Disk (1) (hfs, local, nodev)",
    "/dev/disk6 on /Volumes/work on /me (hfs, local)",
    "",
  ].join("\n");
  expect(parseMount(text)).toEqual([
    "/",
    "/System/Volumes/Data/home",
    "/Volumes/My Disk (1)",
    "/Volumes/work on /me",
    "/me",
  ]);
});

test("names the mounts at and below a directory, and not those of one whose name begins alike", () => {
  const mounts = ["/", "/repos", "/repos/a1", "/repos/a1/b/c", "/repos/a10", "/repos/a1-store"];
  expect(mountsWithin(mounts, "/repos/a1")).toEqual(["", "b/c"]);
  expect(mountsWithin(mounts, "/repos/a1/b")).toEqual(["c"]);
  expect(mountsWithin(mounts, "/repos/none")).toEqual([]);
  expect(mountsWithin(mounts, "/")).toContain("repos/a1");
});

test.skipIf(!mayMount)("sees a bind mount of the same file system, which no device number tells", async () => {
  const root = await temporary();
  mkdirSync(join(root, "store"));
  mkdirSync(join(root, "tree/my store"), { recursive: true });
  const script = 'mount --bind "$1" "$2" && cat /proc/self/mountinfo';
  const { stdout, status } = spawnSync(
    "unshare",
    ["-m", "sh", "-c", script, "sh", join(root, "store"), join(root, "tree/my store")],
    {
      encoding: "utf8",
    },
  );
  expect(status).toBe(0);
  expect(mountsWithin(parseMountinfo(stdout), join(root, "tree"))).toEqual(["my store"]);
  expect(mountsWithin(parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")), join(root, "tree"))).toEqual([]);
});
