import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSmallFile, readStart } from "../../src/system/small-file.ts";
import { temporaryDirectory } from "../helpers/temporary.ts";

test("reads the start of a file of any size, and no more than asked for", async () => {
  const path = join(await temporaryDirectory(), "file");
  writeFileSync(path, Buffer.alloc(1_000_000, "x"));
  expect(await readStart(path, 4)).toEqual(Buffer.from("xxxx"));
});

test("reads all of a file that is shorter than asked for", async () => {
  const path = join(await temporaryDirectory(), "file");
  writeFileSync(path, "ab");
  expect(await readStart(path, 4096)).toEqual(Buffer.from("ab"));
});

test.each([
  ["readSmallFile", readSmallFile],
  ["readStart", readStart],
])("%s finds nothing where nothing is, and refuses links, directories and FIFOs without waiting", async (_, read) => {
  const directory = await temporaryDirectory();
  const at = (name: string): string => join(directory, name);
  writeFileSync(at("file"), "x");
  symlinkSync("file", at("link"));
  mkdirSync(at("directory"));
  execFileSync("mkfifo", [at("pipe")]);
  expect(await read(at("none"), 10)).toBe(null);
  await expect(read(at("link"), 10)).rejects.toThrow("is a symbolic link");
  await expect(read(at("directory"), 10)).rejects.toThrow("is not a regular file");
  await expect(read(at("pipe"), 10)).rejects.toThrow("is not a regular file");
});

test("readSmallFile refuses a file over its cap", async () => {
  const path = join(await temporaryDirectory(), "file");
  writeFileSync(path, "12345678");
  expect(await readSmallFile(path, 8)).toEqual(Buffer.from("12345678"));
  await expect(readSmallFile(path, 7)).rejects.toThrow("is larger than 7 bytes");
});
