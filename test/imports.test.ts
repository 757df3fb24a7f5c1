import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// The one rule: imports run backwards along the pipeline or down to the edge, never forwards.
const SRC = fileURLToPath(new URL("../src", import.meta.url));
const ORDER = [
  "errors.ts",
  "model",
  "system",
  "git",
  "scan",
  "classify",
  "plan",
  "act",
  "report",
  "commands",
  "entries",
];
const PURE = new Set(["model", "classify", "plan", "report"]);
const MAY_IMPORT_IF_PURE = new Set(["errors.ts", "model", "classify", "plan", "report"]);
const OWNERS: Readonly<Record<string, RegExp>> = {
  clipanion: /^((bin|cli|index)\.ts$|commands\/)/,
  "cli-table3": /^report\//,
  "pretty-bytes": /^report\//,
  "string-width": /^report\//,
  typanion: /^(git\/archive-ref\.ts|act\/quarantine\.ts|commands\/)/,
  "node:child_process": /^system\/child\.ts$/,
  "node:process": /^$/,
  // Nothing but git/run.ts starts git.
  "system/child.ts": /^(git\/run\.ts|system\/)/,
};

interface Violation {
  readonly file: string;
  readonly why: string;
}

function folderOf(path: string): string {
  const first = path.split("/")[0] ?? "";
  return ORDER.includes(first) ? first : "entries";
}

/** Returns what is wrong with one source file's imports. */
function violations(file: string, text: string): Violation[] {
  const found: Violation[] = [];
  const folder = folderOf(file);
  for (const [, specifier = ""] of text.matchAll(/(?:\bfrom|^import|\bimport\()\s*"([^"\n]+)"/gm)) {
    if (specifier.startsWith(".")) {
      const path = relative(SRC, join(SRC, dirname(file), specifier));
      const target = folderOf(path);
      if (OWNERS[path]?.test(file) === false) found.push({ file, why: `${specifier} is not its to import` });
      if (ORDER.indexOf(target) > ORDER.indexOf(folder)) found.push({ file, why: `imports forwards: ${specifier}` });
      if (PURE.has(folder) && !MAY_IMPORT_IF_PURE.has(target))
        found.push({ file, why: `is pure and imports ${specifier}` });
      continue;
    }
    if (PURE.has(folder) && specifier.startsWith("node:"))
      found.push({ file, why: `is pure and imports ${specifier}` });
    const owner = OWNERS[specifier];
    // A package that the table does not name has no owner: whoever brings one in says here where it belongs.
    const isOwned = owner === undefined ? specifier.startsWith("node:") : owner.test(file);
    if (!isOwned) found.push({ file, why: `${specifier} is not its to import` });
  }
  if (PURE.has(folder) && /\bprocess\.|Date\.now\(|new Date\(\)/.test(text))
    found.push({ file, why: "is pure and looks at the process or the clock" });
  if (/\bprocess\./.test(text.replace(/\/\*[^]*?\*\/|\/\/.*/g, "")) && !/^(bin\.ts|system\/)/.test(file)) {
    found.push({ file, why: "touches the process" });
  }
  return found;
}

function sources(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
}

test("imports run backwards along the pipeline, and each package has its owner", () => {
  const files = sources();
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap((file) => violations(file, readFileSync(join(SRC, file), "utf8")))).toEqual([]);
});

test.each([
  ["plan/x.ts", 'import { act } from "../act/act.ts";'],
  ["classify/x.ts", 'import type { Tools } from "../scan/tools.ts";'],
  ["report/x.ts", 'import { readFileSync } from "node:fs";'],
  ["scan/x.ts", 'import { spawn } from "node:child_process";'],
  ["scan/x.ts", 'import { Command } from "clipanion";'],
  ["scan/x.ts", 'import { something } from "a-package-that-nobody-owns";'],
  ["scan/x.ts", 'import process from "node:process";'],
  ["git/x.ts", 'import "../scan/scan.ts";'],
  ["model/x.ts", 'export type { Reason } from "../classify/reason.ts";'],
  ["act/x.ts", 'const text = await import("../report/prune-text.ts");'],
  ["plan/x.ts", 'import type {\n  Tools,\n} from "../scan/tools.ts";'],
  ["git/x.ts", 'import { spawn } from "node:child_process";'],
  ["scan/x.ts", 'import { runChild } from "../system/child.ts";'],
  ["scan/x.ts", "const here = process.cwd();"],
  ["plan/x.ts", "const now = new Date();"],
])("the rule is broken by %s with %s", (file, text) => {
  expect(violations(file, text)).not.toEqual([]);
});
