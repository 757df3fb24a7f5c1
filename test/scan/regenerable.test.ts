import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { isManifestName, RegenerableJudge } from "../../src/scan/regenerable.ts";
import { temporaryDirectory } from "../helpers/temporary.ts";

const CACHE_TAG = "Signature: 8a477f597d28d172789f06886806bc55";
const PYVENV = "home = /usr/bin\nversion = 3.11.7\n";

interface Tree {
  /** Files by path; a directory ends in a slash, `-> text` makes a link. */
  readonly files: Readonly<Record<string, string>>;
  readonly tracked?: readonly string[];
}

async function makeTree({ files, tracked = [] }: Tree): Promise<{ directory: string; judge: RegenerableJudge }> {
  const directory = await temporaryDirectory();
  for (const [path, content] of Object.entries(files)) {
    const absolute = join(directory, path);
    mkdirSync(path.endsWith("/") ? absolute : dirname(absolute), { recursive: true });
    if (path.endsWith("/")) continue;
    if (content.startsWith("-> ")) symlinkSync(content.slice(3), absolute);
    else writeFileSync(absolute, content, "latin1");
  }
  const trackedDirectories = new Set([""]);
  for (const path of tracked) {
    for (let at = dirname(path); at !== "."; at = dirname(at)) trackedDirectories.add(at);
  }
  const trackedManifests = new Set(tracked.filter((path) => isManifestName(path.split("/").at(-1) ?? "")));
  return { directory, judge: new RegenerableJudge({ directory, trackedDirectories, trackedManifests }) };
}

async function covers(tree: Tree, path: string): Promise<boolean> {
  return (await makeTree(tree)).judge.covers(path);
}

interface Case {
  readonly name: string;
  /** What the tool leaves, as it was seen to leave it. */
  readonly files: Readonly<Record<string, string>>;
  readonly tracked?: readonly string[];
  /** Covered. */
  readonly yes: readonly string[];
  /** A person's own, beside it. */
  readonly no?: readonly string[];
  /** The file whose absence leaves nothing to go by; none where the entries speak for themselves. */
  readonly marker?: string;
}

const LOCKED = ["package.json", "package-lock.json"];

const CASES: readonly Case[] = [
  {
    name: "a directory with a cache tag",
    files: { "any/CACHEDIR.TAG": `${CACHE_TAG}\n# a tag\n`, "any/deep/x": "1" },
    yes: ["any", "any/", "any/deep", "any/deep/x", "any/not-there"],
    no: [""],
    marker: "any/CACHEDIR.TAG",
  },
  {
    name: "npm's node_modules",
    files: {
      "node_modules/.package-lock.json": '{\n  "name": "root",\n  "lockfileVersion": 3,\n  "packages": {}}\n',
      "node_modules/left-pad/index.js": "x",
    },
    tracked: ["package.json"],
    yes: ["node_modules", "node_modules/left-pad/index.js"],
    marker: "node_modules/.package-lock.json",
  },
  {
    name: "yarn classic's node_modules",
    files: { "node_modules/.yarn-integrity": '{\n  "systemParams": "linux-x64-115",\n', "node_modules/x/y": "x" },
    tracked: ["package.json"],
    yes: ["node_modules"],
    marker: "node_modules/.yarn-integrity",
  },
  {
    name: "yarn's node_modules",
    files: { "node_modules/.yarn-state.yml": "# Warning: …\n\n__metadata:\n  version: 1\n", "node_modules/x/y": "x" },
    tracked: ["package.json"],
    yes: ["node_modules"],
    marker: "node_modules/.yarn-state.yml",
  },
  {
    name: "pnpm's node_modules",
    files: { "node_modules/.modules.yaml": "hoistPattern:\n  - '*'\n", "node_modules/x/y": "x" },
    tracked: ["package.json"],
    yes: ["node_modules"],
    marker: "node_modules/.modules.yaml",
  },
  {
    name: "the node_modules of bun's isolated linker",
    files: {
      "node_modules/.bun/node_modules/": "",
      "node_modules/left-pad": "-> .bun/left-pad@1.3.0/node_modules/left-pad",
    },
    tracked: ["package.json"],
    yes: ["node_modules", "node_modules/left-pad"],
    marker: "node_modules/.bun/node_modules/",
  },
  {
    name: "the node_modules of bun's hoisted linker, which has no marker",
    files: {
      "node_modules/.bin/nopt": "-> ../nopt/bin/nopt.js",
      "node_modules/a": "-> ../packages/a",
      "node_modules/left-pad/package.json": "{}",
      "node_modules/@scope/x/package.json": "{}",
      "node_modules/@scope/y": "-> ../../packages/y",
    },
    tracked: ["package.json", "bun.lock"],
    yes: [
      "node_modules/left-pad",
      "node_modules/.bin/nopt",
      "node_modules/a",
      "node_modules/@scope/x",
      "node_modules/@scope/y",
    ],
  },
  {
    name: "a workspace's own node_modules, made of links into the root's",
    files: {
      "packages/a/node_modules/.bin/nopt": "#!/bin/sh\n",
      "packages/a/node_modules/nopt": "-> ../../../node_modules/.pnpm/nopt@7.2.1/node_modules/nopt",
    },
    tracked: ["packages/a/package.json", "pnpm-lock.yaml"],
    yes: ["packages/a/node_modules", "packages/a/node_modules/nopt"],
    marker: "packages/a/node_modules/nopt",
  },
  {
    name: "yarn's own directory",
    files: {
      ".yarn/cache/left-pad-npm-1.3.0-0382e69409-3fb59c76e2.zip": "PK",
      ".yarn/cache/.gitignore": "/.gitignore\n",
      ".yarn/unplugged/@esbuild-linux-x64-npm-0.21.5-88079726c4/node_modules/@esbuild/linux-x64/package.json": "{}",
      ".yarn/install-state.gz": "\x1f\x8b\x08\x00",
      ".pnp.cjs": '#!/usr/bin/env node\n"This file is automatically generated. Do not touch it, or risk",\n',
      ".pnp.loader.mjs": "/* eslint-disable */\n// @ts-nocheck\n\nimport fs from 'fs';\n",
      ".yarn/patches/mine.patch": "a patch",
    },
    tracked: ["package.json", "yarn.lock"],
    yes: [
      ".yarn/cache",
      ".yarn/unplugged/@esbuild-linux-x64-npm-0.21.5-88079726c4",
      ".yarn/install-state.gz",
      ".pnp.cjs",
      ".pnp.loader.mjs",
    ],
    no: [".yarn/patches/mine.patch", ".yarn"],
  },
  {
    name: "a pixi environment",
    files: { ".pixi/envs/default/conda-meta/history": "", ".pixi/envs/default/lib/x.so": "x" },
    tracked: ["pixi.toml"],
    yes: [".pixi/envs/default", ".pixi/envs/default/lib/x.so"],
    no: [".pixi", ".pixi/envs"],
    marker: ".pixi/envs/default/conda-meta/history",
  },
  {
    name: "a pixi environment of a solve group",
    files: { ".pixi/solve-group-envs/ci/conda-meta/history": "" },
    tracked: ["pyproject.toml"],
    yes: [".pixi/solve-group-envs/ci"],
    marker: ".pixi/solve-group-envs/ci/conda-meta/history",
  },
  {
    name: "what pixi keeps beside its environments, not a person's settings",
    files: {
      ".pixi/.gitignore": "*\n!config.toml\n",
      ".pixi/.condapackageignore": ".pixi\n!.pixi/config.toml\n",
      ".pixi/task-cache-v0/build-ab12.json": "{}\n",
      ".pixi/activation-env-v0/activation_default.json": "{}\n",
      ".pixi/config.toml": "[mirrors]\n",
    },
    tracked: ["pixi.toml"],
    yes: [".pixi/.gitignore", ".pixi/.condapackageignore", ".pixi/task-cache-v0", ".pixi/activation-env-v0"],
    no: [".pixi/config.toml", ".pixi"],
  },
  {
    name: "a conda environment",
    files: { "sub/envs/py/conda-meta/history": "==> 2026-01-01 <==\n" },
    tracked: ["environment-dev.yml"],
    yes: ["sub/envs/py"],
    no: ["sub/envs"],
    marker: "sub/envs/py/conda-meta/history",
  },
  {
    name: "a virtual environment",
    files: { "sub/.venv/pyvenv.cfg": PYVENV, "sub/.venv/lib/x.py": "x" },
    tracked: ["requirements-dev.txt"],
    yes: ["sub/.venv", "sub/.venv/lib/x.py"],
    marker: "sub/.venv/pyvenv.cfg",
  },
  {
    name: "the virtual environment in a person's own directory, and nothing else of it",
    files: {
      "scratch/pyvenv.cfg": PYVENV,
      "scratch/bin/activate": "x",
      "scratch/lib/x.py": "x",
      "scratch/lib64": "-> lib",
      "scratch/results.csv": "1,2,3\n",
    },
    tracked: ["pyproject.toml"],
    yes: ["scratch/lib", "scratch/lib/x.py", "scratch/lib64", "scratch/pyvenv.cfg"],
    no: ["scratch", "scratch/results.csv"],
    marker: "scratch/pyvenv.cfg",
  },
  {
    name: "tox's environments",
    files: { ".tox/py311/pyvenv.cfg": PYVENV, ".tox/log/1.log": "x" },
    tracked: ["tox.ini"],
    yes: [".tox", ".tox/log/1.log"],
    marker: ".tox/py311/pyvenv.cfg",
  },
  {
    name: "nox's environments",
    files: { ".nox/tests/pyvenv.cfg": PYVENV },
    tracked: ["noxfile.py"],
    yes: [".nox"],
    marker: ".nox/tests/pyvenv.cfg",
  },
  {
    name: "Python's byte code",
    files: {
      "src/__pycache__/a.cpython-311.pyc": "x",
      "src/__pycache__/a.cpython-311.pyc.140212": "x",
      "src/__pycache__/nb.f-2.py311.nbi": "x",
    },
    yes: ["src/__pycache__", "src/__pycache__/a.cpython-311.pyc"],
  },
  {
    name: "the byte code beside a person's file, and not that file",
    files: { "__pycache__/a.cpython-311.pyc": "x", "__pycache__/notes.txt": "an afternoon\n" },
    yes: ["__pycache__/a.cpython-311.pyc"],
    no: ["__pycache__", "__pycache__/notes.txt"],
  },
  {
    name: "byte code by its magic number",
    files: { "a.pyc": "\xa7\r\r\n\0\0\0\0", "empty.pyc": "", "notes.pyc": "an afternoon\n" },
    yes: ["a.pyc", "empty.pyc"],
    no: ["notes.pyc"],
  },
  {
    name: "pytest's cache without its tag",
    files: { ".pytest_cache/README.md": "# pytest cache directory #\n" },
    yes: [".pytest_cache"],
    marker: ".pytest_cache/README.md",
  },
  {
    name: "mypy's cache without its tag",
    files: { ".mypy_cache/.gitignore": "# Automatically created by mypy\n*\n" },
    yes: [".mypy_cache"],
    marker: ".mypy_cache/.gitignore",
  },
  {
    name: "ruff's cache without its tag",
    files: { ".ruff_cache/.gitignore": "# Automatically created by ruff.\n*\n" },
    yes: [".ruff_cache"],
    marker: ".ruff_cache/.gitignore",
  },
  {
    name: "Hypothesis' database",
    files: {
      ".hypothesis/.gitignore": "# This .gitignore file was automatically created by Hypothesis. Hypothesis…\n",
      ".hypothesis/examples/04e6/fa14": "x",
      ".hypothesis/patches/2026.patch": "x",
    },
    yes: [".hypothesis/examples", ".hypothesis/.gitignore"],
    no: [".hypothesis/patches/2026.patch", ".hypothesis"],
    marker: ".hypothesis/.gitignore",
  },
  {
    name: "coverage.py's data and report",
    files: {
      ".coverage": "SQLite format 3\0…CREATE TABLE coverage_schema (",
      ".coverage.host.1.x": "SQLite format 3\0…CREATE TABLE coverage_schema (",
      "htmlcov/.gitignore": "# Created by coverage.py\n*\n",
      ".coveragerc": "[run]\n",
    },
    yes: [".coverage", ".coverage.host.1.x", "htmlcov"],
    no: [".coveragerc"],
  },
  {
    name: "a Python package's metadata",
    files: { "src/foo.egg-info/PKG-INFO": "Metadata-Version: 2.4\nName: foo\n", "src/foo.egg-info/SOURCES.txt": "x" },
    tracked: ["pyproject.toml"],
    yes: ["src/foo.egg-info"],
    marker: "src/foo.egg-info/SOURCES.txt",
  },
  {
    name: "setuptools' build, not what else lies in it",
    files: { "build/bdist.linux-x86_64/": "", "build/lib/foo/__init__.py": "x", "build/results.csv": "1\n" },
    tracked: ["setup.py"],
    yes: ["build/lib", "build/lib/foo/__init__.py", "build/bdist.linux-x86_64"],
    no: ["build", "build/results.csv"],
    marker: "build/bdist.linux-x86_64/",
  },
  {
    name: "cargo's target without its tag",
    files: { "target/.rustc_info.json": '{"rustc_fingerprint":8668999387863862814,', "target/debug/x": "x" },
    tracked: ["Cargo.toml"],
    yes: ["target"],
    marker: "target/.rustc_info.json",
  },
  {
    name: "Maven's target, not what else lies in it",
    files: { "target/maven-status/x/y.lst": "x", "target/classes/A.class": "x", "target/results.csv": "1\n" },
    tracked: ["pom.xml"],
    yes: ["target/classes", "target/classes/A.class", "target/maven-status"],
    no: ["target", "target/results.csv"],
    marker: "target/maven-status/x/y.lst",
  },
  {
    name: "Gradle's cache, not a person's settings in it",
    files: {
      ".gradle/8.13/fileHashes/fileHashes.lock": "x",
      ".gradle/vcs-1/gc.properties": "",
      ".gradle/gradle.properties": "token=1\n",
    },
    tracked: ["settings.gradle.kts"],
    yes: [".gradle/8.13", ".gradle/vcs-1"],
    no: [".gradle", ".gradle/gradle.properties"],
  },
  {
    name: "Gradle's build, not what else lies in it",
    files: {
      "app/build/classes/java/main/A.class": "x",
      "app/build/libs/a.jar": "x",
      "app/build/data/run1.csv": "1\n",
    },
    tracked: ["app/build.gradle"],
    yes: ["app/build/classes", "app/build/libs/a.jar"],
    no: ["app/build", "app/build/data", "app/build/data/run1.csv"],
    marker: "app/build/classes/java/main/A.class",
  },
  {
    name: "Composer's vendor",
    files: {
      "vendor/autoload.php": "<?php\n\n// autoload.php @generated by Composer\n",
      "vendor/composer/installed.json": "{}",
    },
    tracked: ["composer.json"],
    yes: ["vendor"],
    marker: "vendor/autoload.php",
  },
  {
    name: "Next.js' build and types",
    files: {
      ".next/package.json": '{"type": "commonjs"}',
      "next-env.d.ts": '/// <reference types="next" />\n\n// NOTE: This file should not be edited\n',
    },
    tracked: ["package.json"],
    yes: [".next", "next-env.d.ts"],
    marker: ".next/package.json",
  },
  {
    name: "Nuxt's build",
    files: { ".nuxt/tsconfig.json": "// Generated by nuxi\n{}" },
    tracked: ["package.json"],
    yes: [".nuxt"],
    marker: ".nuxt/tsconfig.json",
  },
  {
    name: "SvelteKit's build",
    files: { ".svelte-kit/ambient.d.ts": "\n// this file is generated — do not edit it\n" },
    tracked: ["package.json"],
    yes: [".svelte-kit"],
    marker: ".svelte-kit/ambient.d.ts",
  },
  {
    name: "turbo's cache and logs, not its settings",
    files: {
      ".turbo/cache/59de-meta.json": "{}",
      ".turbo/turbo-build.log": "x",
      ".turbo/config.json": '{"teamId":"x"}',
    },
    tracked: ["turbo.json"],
    yes: [".turbo/cache", ".turbo/turbo-build.log"],
    no: [".turbo", ".turbo/config.json"],
  },
  {
    name: "Parcel's cache",
    files: { ".parcel-cache/data.mdb": `${"\0".repeat(24)}\xde\xc0\xef\xbe` },
    tracked: ["package.json"],
    yes: [".parcel-cache"],
    marker: ".parcel-cache/data.mdb",
  },
  {
    name: "Vite's cache",
    files: { "node_modules/.vite/vitest/da39a3/results.json": '{"version":"4.1.12","results":[]}' },
    tracked: ["package.json"],
    yes: ["node_modules/.vite"],
    no: ["node_modules"],
    marker: "node_modules/.vite/vitest/da39a3/results.json",
  },
  {
    name: "Angular's cache",
    files: { ".angular/cache/19.2.1/app/.tsbuildinfo": "x" },
    tracked: ["angular.json"],
    yes: [".angular/cache"],
  },
  {
    name: "the hooks that husky makes",
    files: {
      ".husky/_/.gitignore": "*",
      ".husky/_/h": "#!/usr/bin/env sh\nexport HUSKY\n# husky -\n",
      ".husky/_/pre-commit": "x",
    },
    tracked: ["package.json", ".husky/pre-commit"],
    yes: [".husky/_"],
    no: [".husky"],
    marker: ".husky/_/h",
  },
  {
    name: "the output of tsc, named by tsconfig.json's outDir and with a source for each file",
    files: {
      "app/tsconfig.json":
        '{ // "outDir": "wrong",\n "compilerOptions": { "paths": {"@/*": ["./src/*"]}, "outDir": "./dist/" } }',
      "app/src/a/b.ts": "x",
      "app/dist/a/b.js": "x",
      "app/dist/a/b.js.map": "x",
      "app/dist/a/b.d.ts": "x",
    },
    tracked: ["app/tsconfig.json", "app/src/a/b.ts"],
    yes: ["app/dist", "app/dist/a/b.js"],
    marker: "app/src/a/b.ts",
  },
  {
    name: "what linters and compilers remember",
    files: {
      ".eslintcache": '[{"/w/a.js":"1"},{"size":18,"mtime":1,"results":"3","hashOfConfig":"4"}]',
      "tsconfig.tsbuildinfo": '{"fileNames":["./a.ts"],"version":"5.9.3"}',
      "seven.tsbuildinfo": '{"version":"7.0.2","root":[83]}',
      "notes.tsbuildinfo": "an afternoon\n",
    },
    yes: [".eslintcache", "tsconfig.tsbuildinfo", "seven.tsbuildinfo"],
    no: ["notes.tsbuildinfo"],
  },
  {
    name: "what file managers leave",
    files: {
      "a/.DS_Store": "\0\0\0\x01Bud1\0",
      "b/.DS_Store": "",
      "c/.DS_Store": "an afternoon\n",
      "Thumbs.db": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0",
    },
    yes: ["a/.DS_Store", "b/.DS_Store", "Thumbs.db"],
    no: ["c/.DS_Store"],
  },
  {
    name: "a harness' own settings at the worktree's root, and nothing else of .claude",
    files: {
      ".claude/settings.local.json": '{"permissions":{"allow":["Bash(ls:*)"]}}\n',
      ".claude/settings.json": '{"permissions":{}}\n',
      ".claude/notes.md": "an afternoon\n",
      "sub/.claude/settings.local.json": '{"permissions":{}}\n',
    },
    yes: [".claude/settings.local.json"],
    no: [".claude", ".claude/settings.json", ".claude/notes.md", "sub/.claude/settings.local.json"],
  },
];

test.each(CASES)("calls regenerable: $name", async ({ files, tracked = [], yes, no = [] }) => {
  const { judge } = await makeTree({ files, tracked });
  const judged = await Promise.all([...yes, ...no].map(async (path) => [path, await judge.covers(path)]));
  expect(Object.fromEntries(judged)).toEqual(
    Object.fromEntries([...yes.map((path) => [path, true]), ...no.map((path) => [path, false])]),
  );
});

test.each(CASES.filter(({ marker }) => marker !== undefined))(
  "holds without what the tool leaves inside: $name",
  async (row) => {
    const directory = row.yes[0] ?? "";
    // The directory itself stays, even when nothing else lies in it.
    const files = Object.fromEntries(
      Object.entries({ ...row.files, [`${directory}/`]: "" }).filter(([path]) => path !== row.marker),
    );
    expect(await covers({ files, tracked: row.tracked ?? [] }, directory)).toBe(false);
  },
);

test.each(CASES.filter(({ tracked }) => tracked !== undefined))(
  "holds without a tracked recipe: $name",
  async ({ files, yes }) => {
    const { judge } = await makeTree({ files });
    for (const path of yes) expect([path, await judge.covers(path)]).toEqual([path, false]);
  },
);

test("holds a node_modules that only bears the name, beside a tracked package.json and lock file", async () => {
  const tree = { files: { "node_modules/mine/notes.txt": "x", "node_modules/loose.txt": "x" }, tracked: LOCKED };
  expect(await covers(tree, "node_modules")).toBe(false);
  expect(await covers(tree, "node_modules/mine")).toBe(false);
  expect(await covers(tree, "node_modules/loose.txt")).toBe(false);
});

test("holds a person's file among the packages of a node_modules without a marker", async () => {
  const files = { "node_modules/x/package.json": "{}", "node_modules/results.csv": "1", "node_modules/own@": "1" };
  const { judge } = await makeTree({ files, tracked: LOCKED });
  expect(await judge.covers("node_modules/x")).toBe(true);
  expect(await judge.covers("node_modules/results.csv")).toBe(false);
  expect(await judge.covers("node_modules/own@")).toBe(false);
  expect(await judge.covers("node_modules")).toBe(false);
});

test.each([
  ["shorter than its 43 bytes", CACHE_TAG.slice(0, -1)],
  ["with another signature", "Signature: 00000000000000000000000000000000\n"],
  ["that begins later", `\n${CACHE_TAG}\n`],
  ["that is empty", ""],
])("holds a directory with a cache tag %s", async (_, tag) => {
  expect(await covers({ files: { "any/CACHEDIR.TAG": tag, "any/x": "1" } }, "any/x")).toBe(false);
});

test("holds a directory in which a tracked file lies, at any depth, whatever tag it bears", async () => {
  const files = { "data/CACHEDIR.TAG": CACHE_TAG, "data/a/b/tracked.txt": "x", "data/own.txt": "x", "data/c/x": "1" };
  const { judge } = await makeTree({ files, tracked: ["data/a/b/tracked.txt"] });
  expect(await judge.covers("data")).toBe(false);
  expect(await judge.covers("data/own.txt")).toBe(false);
  expect(await judge.covers("data/c/x")).toBe(false);
});

test("holds what a tool's row names when a tracked file lies in it", async () => {
  const files = { "target/maven-status/x": "1", "target/classes/own.csv": "1", "target/classes/a/tracked.txt": "1" };
  const { judge } = await makeTree({ files, tracked: ["pom.xml", "target/classes/a/tracked.txt"] });
  expect(await judge.covers("target/maven-status")).toBe(true);
  expect(await judge.covers("target/classes")).toBe(false);
  expect(await judge.covers("target/classes/own.csv")).toBe(false);
});

test("never covers the worktree itself by a tag at its root", async () => {
  const tree = { files: { "CACHEDIR.TAG": CACHE_TAG, "own.txt": "x" } };
  expect(await covers(tree, "own.txt")).toBe(false);
});

test("follows no link to a marker", async () => {
  const files = { tag: CACHE_TAG, "any/CACHEDIR.TAG": "-> ../tag", "any/x": "1" };
  expect(await covers({ files }, "any/x")).toBe(false);
});

test("follows no link on the way to a marker", async () => {
  const files = {
    "meta/history": "",
    ".pixi/envs/default/conda-meta": "-> ../../../meta",
    ".pixi/envs/default/x": "1",
  };
  expect(await covers({ files, tracked: ["pixi.toml"] }, ".pixi/envs/default/x")).toBe(false);
});

test("follows no link to a directory that is regenerable", async () => {
  const files = { "cache/CACHEDIR.TAG": CACHE_TAG, "cache/x": "1", link: "-> cache" };
  const { judge } = await makeTree({ files });
  expect(await judge.covers("cache/x")).toBe(true);
  expect(await judge.covers("link")).toBe(false);
  expect(await judge.covers("link/x")).toBe(false);
});

test("holds a link that bears the name of a file that can be made again", async () => {
  expect(await covers({ files: { "real.pyc": "\xa7\r\r\n", "a.pyc": "-> real.pyc" } }, "a.pyc")).toBe(false);
});

test.each(["CACHEDIR.TAG", "pyvenv.cfg"])("does not wait for a FIFO planted as %s", async (name) => {
  const { directory, judge } = await makeTree({ files: { "any/x": "1" }, tracked: ["pyproject.toml"] });
  execFileSync("mkfifo", [join(directory, "any", name)]);
  expect(await judge.covers("any/x")).toBe(false);
});

test("does not count an untracked manifest", async () => {
  const files = { "package.json": "{}", "node_modules/.package-lock.json": '{"lockfileVersion":3}' };
  expect(await covers({ files, tracked: ["sub/package.json"] }, "node_modules")).toBe(false);
});

test("does not count a manifest in another directory where it must lie beside", async () => {
  const files = { "sub/target/.rustc_info.json": '{"rustc_fingerprint":1}' };
  expect(await covers({ files, tracked: ["Cargo.toml", "other/Cargo.toml"] }, "sub/target")).toBe(false);
});

const TSCONFIG = '{"compilerOptions":{"outDir":"dist"}}';

test.each([
  ["a file that no source explains", { "dist/a.js": "x", "dist/own.js": "x" }, TSCONFIG],
  ["a file that tsc does not write", { "dist/a.js": "x", "dist/results.csv": "1" }, TSCONFIG],
  ["a link", { "dist/a.js": "x", "dist/latest": "-> a.js" }, TSCONFIG],
  ["another outDir", { "dist/a.js": "x" }, '{"compilerOptions":{"outDir":"build"}}'],
  ["an outDir that is commented out", { "dist/a.js": "x" }, '{\n// "outDir": "dist",\n/* "outDir": "dist" */}'],
  ["no outDir", { "dist/a.js": "x" }, "{}"],
])("holds a dist with %s", async (_, dist, tsconfig) => {
  const files = { "tsconfig.json": tsconfig, "src/a.ts": "x", ...dist };
  expect(await covers({ files, tracked: ["tsconfig.json", "src/a.ts"] }, "dist")).toBe(false);
});

test("does not take a file of the output for the source of another", async () => {
  const files = { "tsconfig.json": '{"outDir":"lib"}', "src/a.ts": "x", "lib/a.d.ts": "x", "lib/a.d.js": "own" };
  expect(await covers({ files, tracked: ["tsconfig.json", "src/a.ts"] }, "lib")).toBe(false);
});

test("does not take an absolute outDir for a directory beside the manifest", async () => {
  const files = { "app/tsconfig.json": '{"outDir":"/dist"}', "app/src/a.ts": "x", "app/dist/a.js": "x" };
  expect(await covers({ files, tracked: ["app/tsconfig.json", "app/src/a.ts"] }, "app/dist")).toBe(false);
});

test.each(["", ".", "..", "../x", "a//b", "/etc", "a/../b"])("covers nothing under the path %j", async (path) => {
  expect(await covers({ files: { "a/CACHEDIR.TAG": CACHE_TAG } }, path)).toBe(false);
});

test("holds a directory whose only file has a name that cannot be read", async () => {
  const { directory, judge } = await makeTree({ files: { "__pycache__/": "" } });
  writeFileSync(Buffer.concat([Buffer.from(join(directory, "__pycache__/")), Buffer.from([0xff])]), "x");
  expect(await judge.covers("__pycache__")).toBe(false);
});

test("throws when it cannot look", async () => {
  const { judge } = await makeTree({ files: {} });
  await expect(judge.covers(`${"x".repeat(300)}/y`)).rejects.toThrow("ENAMETOOLONG");
});

test.skipIf(process.getuid?.() === 0)("throws when a directory may not be looked into", async () => {
  const { directory, judge } = await makeTree({ files: { "private/x": "1" } });
  chmodSync(join(directory, "private"), 0);
  await expect(judge.covers("private/x")).rejects.toThrow("EACCES");
});

test.each([
  ["package.json", true],
  ["requirements-dev.txt", true],
  ["tsconfig.build.json", true],
  ["environment.yaml", true],
  ["README.md", false],
  ["package.json.bak", false],
  ["xpackage.json", false],
])("knows whether %s is a manifest: %s", (name, expected) => {
  expect(isManifestName(name)).toBe(expected);
});
