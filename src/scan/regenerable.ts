import { lstatSync, readdirSync, type Stats } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { errnoOf } from "../errors.ts";
import { endingOf } from "../git/index-file.ts";
import type { WantedNames } from "../git/working-tree.ts";
import {
  EXAMINED_BYTES,
  RECIPES,
  type Content,
  type DirectoryRecipe,
  type FileRecipe,
  type Manifests,
  type Marker,
  type Sources,
} from "../model/regenerable.ts";
import { readStart } from "../system/small-file.ts";

/** A manifest is read further than other files: `tsc --init` writes 12 KiB of comments. */
const MANIFEST_BYTES = 64 * 1024;

/** What one directory is. `entries` are the patterns of those entries that can be made again where not all of it can. */
interface Verdict {
  readonly isReal: boolean;
  readonly isCovered: boolean;
  readonly entries: readonly RegExp[];
}

const NOT_REAL: Verdict = { isReal: false, isCovered: false, entries: [] };
const COVERED: Verdict = { isReal: true, isCovered: true, entries: [] };

/** Judges what in one worktree can be made again, by the table in `model/regenerable.ts`. Follows no link. */
export class RegenerableJudge {
  readonly #root: string;
  readonly #trackedDirectories: ReadonlySet<string>;
  /** Names of tracked manifests by the directory that holds them. */
  readonly #manifests = new Map<string, string[]>();
  readonly #verdicts = new Map<string, Promise<Verdict>>();
  readonly #values = new Map<string, Promise<string | null>>();

  constructor(worktree: {
    /** Absolute path of the worktree's bytes. */
    readonly directory: string;
    /** Directories, relative to the worktree, that hold a tracked file at any depth; "" is the worktree itself. */
    readonly trackedDirectories: ReadonlySet<string>;
    /** Paths of tracked files whose basename `isManifestName`. */
    readonly trackedManifests: ReadonlySet<string>;
  }) {
    this.#root = worktree.directory;
    this.#trackedDirectories = worktree.trackedDirectories;
    for (const path of worktree.trackedManifests) {
      const names = this.#manifests.get(parentOf(path));
      if (names === undefined) this.#manifests.set(parentOf(path), [basename(path)]);
      else names.push(basename(path));
    }
  }

  /**
   * Whether the file or directory at this path, relative to the worktree, can be made again: by itself, or because a directory above it can.
   * A directory that holds a tracked file never can as a whole. Throws when it cannot be told.
   */
  async covers(path: string): Promise<boolean> {
    const wanted = path.endsWith("/") ? path.slice(0, -1) : path;
    if (!isPlain(wanted)) return false;
    const parent = await this.#verdict(parentOf(wanted));
    if (parent.isCovered) return true;
    if (!parent.isReal) return false;
    const stats = look(this.#at(wanted));
    if (stats === null) return false;
    if (stats.isDirectory()) return (await this.#verdict(wanted)).isCovered;
    if (matchesEntry(parent.entries, basename(wanted), stats)) return true;
    return stats.isFile() && this.#isRegenerableFile(wanted);
  }

  #at(path: string): string {
    return join(this.#root, path);
  }

  #verdict(directory: string): Promise<Verdict> {
    let verdict = this.#verdicts.get(directory);
    if (verdict === undefined) {
      verdict = directory === "" ? Promise.resolve({ ...COVERED, isCovered: false }) : this.#examine(directory);
      this.#verdicts.set(directory, verdict);
    }
    return verdict;
  }

  async #examine(directory: string): Promise<Verdict> {
    const parent = await this.#verdict(parentOf(directory));
    if (parent.isCovered || !parent.isReal) return parent;
    const stats = look(this.#at(directory));
    if (stats === null || !stats.isDirectory()) return NOT_REAL;
    const holdsTracked = this.#trackedDirectories.has(directory);
    if (!holdsTracked && matchesEntry(parent.entries, basename(directory), stats)) return COVERED;

    const entries: RegExp[] = [];
    for (const { recipe, path } of DIRECTORY_RECIPES) {
      if (recipe.entries === undefined && holdsTracked) continue;
      const holder = holderOf(path, directory);
      if (holder === null || !(await this.#isMadeBy(recipe, directory, holder))) continue;
      if (recipe.entries === undefined) return COVERED;
      entries.push(...recipe.entries.map(toEntry));
    }
    // Nothing else lies in it: then it goes as a whole.
    if (entries.length > 0 && !holdsTracked && this.#hasOnly(directory, entries)) return COVERED;
    return { isReal: true, isCovered: false, entries };
  }

  #hasOnly(directory: string, patterns: readonly RegExp[]): boolean {
    return readdirSync(this.#at(directory)).every((name) => {
      if (isUndecodable(name)) return false;
      const stats = look(this.#at(join(directory, name)));
      return stats === null || matchesEntry(patterns, name, stats);
    });
  }

  async #isMadeBy(recipe: DirectoryRecipe, directory: string, holder: string): Promise<boolean> {
    const bases: string[] = [];
    for (const wanted of recipe.tracked ?? []) {
      const found = await this.#findManifests(wanted, holder, directory);
      if (found.length === 0) return false;
      bases.push(...found);
    }
    for (const markers of recipe.inside) {
      if (!(await this.#hasAny(directory, [markers].flat(), bases))) return false;
    }
    return true;
  }

  async #isRegenerableFile(path: string): Promise<boolean> {
    if (!FILE_NAMES.test(basename(path))) return false;
    for (const { recipe, path: pattern } of FILE_RECIPES) {
      const holder = holderOf(pattern, path);
      if (holder === null || !(await this.#hasTracked(recipe, holder, path))) continue;
      const start = await readStart(this.#at(path), EXAMINED_BYTES);
      if (start !== null && recipe.content.some((content) => isContent(start, content))) return true;
    }
    return false;
  }

  async #hasTracked(recipe: FileRecipe, holder: string, match: string): Promise<boolean> {
    for (const wanted of recipe.tracked ?? []) {
      if ((await this.#findManifests(wanted, holder, match)).length === 0) return false;
    }
    return true;
  }

  /** Returns the directories that hold such a manifest, the nearest first. */
  async #findManifests(wanted: Manifests, holder: string, match: string): Promise<string[]> {
    const found: string[] = [];
    for (const directory of wanted.orAbove === true ? withAncestors(holder) : [holder]) {
      for (const name of this.#manifests.get(directory) ?? []) {
        if (!isAnyOf(wanted.anyOf, name)) continue;
        if (wanted.key === undefined || (await this.#names(join(directory, name), wanted.key, match)))
          found.push(directory);
      }
    }
    return found;
  }

  /** Whether the value of a manifest's key is the path of `match`, relative to the directory that holds the manifest. */
  async #names(manifest: string, key: string, match: string): Promise<boolean> {
    const id = `${key}\0${manifest}`;
    let value = this.#values.get(id);
    if (value === undefined) this.#values.set(id, (value = this.#readValue(manifest, key)));
    const path = await value;
    return path !== null && !isAbsolute(path) && join(parentOf(manifest), path, ".").replace(/\/$/, "") === match;
  }

  async #readValue(manifest: string, key: string): Promise<string | null> {
    if (!this.#isFile(manifest)) return null;
    const start = await readStart(this.#at(manifest), MANIFEST_BYTES);
    return start === null ? null : stringValue(start.toString("utf8"), key);
  }

  #isFile(path: string): boolean {
    for (let parent = parentOf(path); parent !== ""; parent = parentOf(parent)) {
      if (look(this.#at(parent))?.isDirectory() !== true) return false;
    }
    return look(this.#at(path))?.isFile() === true;
  }

  async #hasAny(directory: string, markers: readonly Marker[], bases: readonly string[]): Promise<boolean> {
    for (const marker of markers) {
      if (await this.#has(directory, marker, bases)) return true;
    }
    return false;
  }

  async #has(directory: string, marker: Marker, bases: readonly string[]): Promise<boolean> {
    if ("builtFrom" in marker) return bases.some((base) => this.#isBuiltFrom(directory, "", base, marker.builtFrom));
    if ("directory" in marker) return this.#some(directory, marker.directory, (stats) => stats.isDirectory());
    if ("link" in marker) return this.#some(directory, marker.link, (stats) => stats.isSymbolicLink());
    return this.#some(directory, marker.file, async (stats, path) => {
      if (!stats.isFile()) return false;
      if (marker.startsWith === undefined && marker.contains === undefined) return true;
      const start = await readStart(this.#at(path), EXAMINED_BYTES);
      return start !== null && isContent(start, marker);
    });
  }

  /** Whether something at the path pattern below a real directory passes the test; every directory on the way is a real one. */
  async #some(
    directory: string,
    pattern: string,
    test: (stats: Stats, path: string) => boolean | Promise<boolean>,
  ): Promise<boolean> {
    const slash = pattern.indexOf("/");
    const first = slash < 0 ? pattern : pattern.slice(0, slash);
    const names = /[*?[]/.test(first)
      ? readdirSync(this.#at(directory)).filter((name) => isAnyOf([first], name))
      : [first];
    for (const name of names) {
      const path = join(directory, name);
      const stats = look(this.#at(path));
      if (stats === null) continue;
      if (
        slash < 0
          ? await test(stats, path)
          : stats.isDirectory() && (await this.#some(path, pattern.slice(slash + 1), test))
      )
        return true;
    }
    return false;
  }

  /** Whether every file below `directory`/`below` is an output whose source is there, at the same place below a root of `base`. */
  #isBuiltFrom(directory: string, below: string, base: string, sources: Sources): boolean {
    return readdirSync(this.#at(join(directory, below))).every((name) => {
      if (isUndecodable(name)) return false;
      const path = join(below, name);
      const stats = look(this.#at(join(directory, path)));
      if (stats === null) return true;
      if (stats.isDirectory()) return this.#isBuiltFrom(directory, path, base, sources);
      if (!stats.isFile()) return false;
      return sources.outputs.some((output) => {
        if (!name.endsWith(output)) return false;
        const stem = path.slice(0, -output.length);
        return sources.roots.some((root) =>
          sources.sources.some((end) => {
            const source = join(base, root, stem + end);
            return !source.startsWith(`${directory}/`) && this.#isFile(source);
          }),
        );
      });
    });
  }
}

const patterns = new Map<string, RegExp>();

/** Compiles the pattern of one component. */
function toPattern(glob: string): RegExp {
  let pattern = patterns.get(glob);
  if (pattern === undefined) {
    const text = glob
      .replace(/[.+^${}()|\\]/g, "\\$&")
      .replaceAll("*", "[^/]*")
      .replaceAll("?", "[^/]");
    patterns.set(glob, (pattern = new RegExp(`^${text}$`)));
  }
  return pattern;
}

/** A link's mark, as `/` is a directory's: no name can hold it, as any name can hold an `@`. */
const LINK = "//";

/** Compiles the pattern of one entry with its `ls -F` mark. */
function toEntry(glob: string): RegExp {
  return toPattern(glob.replace(/@$/, LINK));
}

const DIRECTORY_RECIPES = RECIPES.flatMap((recipe) =>
  "directory" in recipe ? [{ recipe, path: toPath(recipe.directory) }] : [],
);
const FILE_RECIPES = RECIPES.flatMap((recipe) => ("file" in recipe ? [{ recipe, path: toPath(recipe.file) }] : []));
/** The names of all file recipes in one, as most of many files bear none of them. */
const FILE_NAMES = new RegExp(FILE_RECIPES.map(({ path }) => path.parts.at(-1)?.source).join("|"));
const MANIFEST_GLOBS = [...new Set(RECIPES.flatMap(({ tracked = [] }) => tracked).flatMap(({ anyOf }) => anyOf))];
/** The names of all manifests in one: it is asked of many tracked files of every worktree. */
const MANIFEST_NAMES = new RegExp(MANIFEST_GLOBS.map((glob) => toPattern(glob).source).join("|"));

/** Whether a tracked file of this name can be the recipe of a directory or file: what `RegenerableJudge` asks to be told of. */
export function isManifestName(name: string): boolean {
  return MANIFEST_NAMES.test(name);
}

/** Names of manifests, to be looked for in an index. */
export const MANIFESTS: WantedNames = {
  endings: new Set(MANIFEST_GLOBS.map(plainEndingOf)),
  includes: isManifestName,
};

function plainEndingOf(glob: string): number {
  if (/[*?[\]]/.test(glob.slice(-3))) throw new Error(`Assertion failed: ${glob} ends in a pattern`);
  return endingOf(Buffer.from(glob));
}

interface PathPattern {
  readonly parts: readonly RegExp[];
  readonly isAtRoot: boolean;
}

function toPath(path: string): PathPattern {
  return { parts: path.split("/").filter(Boolean).map(toPattern), isAtRoot: path.startsWith("/") };
}

/** Returns the directory in which a path pattern begins, or null when the path does not end that way. */
function holderOf(pattern: PathPattern, path: string): string | null {
  let rest = path;
  for (const part of pattern.parts.toReversed()) {
    if (rest === "" || !part.test(basename(rest))) return null;
    rest = parentOf(rest);
  }
  return pattern.isAtRoot && rest !== "" ? null : rest;
}

function isAnyOf(globs: readonly string[], name: string): boolean {
  return globs.some((glob) => toPattern(glob).test(name));
}

function matchesEntry(entries: readonly RegExp[], name: string, stats: Stats): boolean {
  if (entries.length === 0) return false;
  const mark = stats.isDirectory() ? "/" : stats.isSymbolicLink() ? LINK : stats.isFile() ? "" : null;
  return mark !== null && entries.some((entry) => entry.test(name + mark));
}

function isContent(start: Buffer, content: Content): boolean {
  const { empty, startsWith, at = 0, contains } = content;
  if (empty === true && start.length > 0) return false;
  if (startsWith !== undefined && start.toString("latin1", at, at + startsWith.length) !== startsWith) return false;
  return contains === undefined || contains.test(start.toString("latin1"));
}

/** Returns the string value of a key in JSON with comments, wherever in it the key stands; null when it has none. */
function stringValue(text: string, key: string): string | null {
  const bare = text.replace(/"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (token) =>
    token.startsWith('"') ? token : " ",
  );
  return new RegExp(`"${key}"\\s*:\\s*"([^"\\\\]*)"`).exec(bare)?.[1] ?? null;
}

/** Whether a relative path is made of names alone, as git prints it. */
export function isPlain(path: string): boolean {
  return path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
}

/** Whether a name was not valid UTF-8 where it came from: nothing can be asked of it under the name that is left. */
export function isUndecodable(name: string): boolean {
  return name.includes("\uFFFD");
}

/** Returns the directory that holds a relative path; "" is the worktree itself. */
export function parentOf(path: string): string {
  const parent = dirname(path);
  return parent === "." ? "" : parent;
}

function withAncestors(directory: string): string[] {
  const all = [directory];
  for (let path = directory; path !== "";) all.push((path = parentOf(path)));
  return all;
}

/**
 * Returns what lies at a path itself, no link followed, or null when nothing does. Throws when it cannot be told. Synchronous, as are the other
 * looks at many entries: a call takes microseconds, its asynchronous twin six times that (PERF, "Sizes").
 */
export function look(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}
