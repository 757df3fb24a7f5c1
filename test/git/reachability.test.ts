import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { World } from "../../fixtures/world.ts";
import {
  askReach,
  keepCommits,
  listUnreachedWithParents,
  safeRefsOfBare,
  safeRefsOfClone,
  type SafeRefs,
} from "../../src/git/reachability.ts";
import { stagesOf } from "../helpers/stages.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

/** A repository with a bare, `main` pushed, and a commit on top of it that is nowhere but in the object store of both. */
interface Case {
  readonly world: World;
  readonly clone: string;
  readonly bare: string;
  readonly main: string;
  readonly stray: string;
}

async function makeCase(options: Parameters<typeof temporaryWorld>[0] = {}): Promise<Case> {
  const world = await temporaryWorld(options);
  const { clone } = world.main;
  const bare = world.main.bare ?? "";
  const main = world.git(clone, "rev-parse", "HEAD").trim();
  const stray = world.git(clone, "commit-tree", "-p", "HEAD", "-m", "stray", "HEAD^{tree}").trim();
  world.git(bare, "fetch", "-q", clone, `${stray}:refs/heads/passing`);
  world.git(bare, "update-ref", "-d", "refs/heads/passing");
  return { world, clone, bare, main, stray };
}

/** Returns what the safe refs make of each id: reached, unreached or missing. */
async function told(world: World, safe: SafeRefs, commits: readonly string[]): Promise<Record<string, string[]>> {
  const { tools } = await stagesOf(world);
  const { reached, unreached, missing } = await askReach(tools.git, safe, commits);
  return { reached: [...reached], unreached: [...unreached], missing: [...missing] };
}

/** Returns what the refs of the bare make of one id. */
async function toldByBare({ world, bare }: Case, commit: string): Promise<string> {
  const answer = await told(world, safeRefsOfBare(bare), [commit]);
  const [kind] = Object.entries(answer).find(([, commits]) => commits.length > 0) ?? ["nothing"];
  return kind;
}

test.each(["sha1", "sha256"] as const)(
  "tips and their ancestors are reached, what is beside them is not (%s)",
  async (objectFormat) => {
    const { world, clone, bare, main, stray } = await makeCase({ objectFormat });
    const next = world.commit(clone);
    world.push(clone);
    const missing = "1".repeat(main.length);
    expect(await told(world, safeRefsOfBare(bare), [stray, main, missing, next])).toEqual({
      reached: [main, next],
      unreached: [stray],
      missing: [missing],
    });
  },
);

test("a commit that is not there does not keep the others from an answer", async () => {
  const { world, bare, main, stray } = await makeCase();
  const answer = await told(world, safeRefsOfBare(bare), ["1".repeat(40), main, "2".repeat(40), stray]);
  expect(answer).toEqual({ reached: [main], unreached: [stray], missing: ["1".repeat(40), "2".repeat(40)] });
});

test.each(["HEAD:README.md", "HEAD^{tree}", "v1"])(
  "an object that is no commit is not called reached: %s",
  async (revision) => {
    const { world, clone, bare } = await makeCase();
    world.git(clone, "tag", "-a", "-m", "a tag", "v1");
    world.git(clone, "push", "-q", "origin", "v1");
    world.fetchBare();
    const object = world.git(clone, "rev-parse", revision).trim();
    expect(await told(world, safeRefsOfBare(bare), [object])).toEqual({
      reached: [],
      unreached: [],
      missing: [object],
    });
  },
);

test("text that would un-ask others un-asks nothing", async () => {
  const { world, bare, main, stray } = await makeCase();
  const text = [`^${stray}`, "--not", "--all", "HEAD", "main", `${main.slice(0, 12)}`, main.toUpperCase()];
  expect(await told(world, safeRefsOfBare(bare), [...text, stray])).toEqual({
    reached: [main],
    unreached: [stray],
    missing: text,
  });
});

test.each(["refs/heads/x", "refs/tags/x", "refs/remotes/fork/x", "refs/pull/1/head", "refs/notes/x", "refs/stash"])(
  "%s of the bare is safe",
  async (ref) => {
    const made = await makeCase();
    made.world.git(made.bare, "update-ref", ref, made.stray);
    expect(await toldByBare(made, made.stray)).toBe("reached");
  },
);

test("an annotated tag of the bare makes its commit safe", async () => {
  const made = await makeCase();
  made.world.git(made.bare, "tag", "-a", "-m", "a tag", "v1", made.stray);
  expect(await toldByBare(made, made.stray)).toBe("reached");
});

test("a packed ref is as good as a loose one", async () => {
  const made = await makeCase();
  made.world.git(made.bare, "update-ref", "refs/heads/x", made.stray);
  made.world.git(made.bare, "pack-refs", "--all");
  expect(await toldByBare(made, made.stray)).toBe("reached");
});

test.each(["refs/dl/archive/2026-01-31/ws/a1", "refs/dl/x"])(
  "%s, where dl archives, makes nothing safe",
  async (ref) => {
    const made = await makeCase();
    made.world.git(made.bare, "update-ref", ref, made.stray);
    expect(await toldByBare(made, made.stray)).toBe("unreached");
  },
);

test("a replace ref fakes nothing, neither by what it replaces nor by being a ref", async () => {
  const made = await makeCase();
  replaceByChild(made.world, made.bare, made);
  expect(made.world.git(made.bare, "rev-list", made.stray, "--not", "refs/heads/main")).toBe("");
  expect(await toldByBare(made, made.stray)).toBe("unreached");
});

/** Puts a child of the stray commit in the place of main, where replace refs are believed. */
function replaceByChild(world: World, repository: string, { main, stray }: Case): void {
  const child = world.git(repository, "commit-tree", "-p", stray, "-m", "child", `${main}^{tree}`).trim();
  world.git(repository, "update-ref", `refs/replace/${main}`, child);
}

test("a graft fakes nothing", async () => {
  const made = await makeCase();
  writeFileSync(join(made.bare, "info/grafts"), `${made.main} ${made.stray}\n`);
  expect(made.world.git(made.bare, "rev-list", made.stray, "--not", "refs/heads/main")).toBe("");
  expect(await toldByBare(made, made.stray)).toBe("unreached");
});

test("HEAD of the bare, and those of its worktrees, are no safe refs", async () => {
  const made = await makeCase();
  made.world.git(made.bare, "worktree", "add", "-q", "--detach", join(made.world.root, "elsewhere"), made.stray);
  expect(made.world.git(made.bare, "rev-list", made.stray, "--not", "--all")).toBe("");
  made.world.git(made.bare, "update-ref", "--no-deref", "HEAD", made.stray);
  expect(await toldByBare(made, made.stray)).toBe("unreached");
});

test("nothing is reached in a bare without refs", async () => {
  const made = await makeCase();
  made.world.git(made.bare, "update-ref", "-d", "refs/heads/main");
  expect(await toldByBare(made, made.main)).toBe("unreached");
});

test("a bare with a ref that is broken gives no answer, not a good one", async () => {
  const made = await makeCase();
  writeFileSync(join(made.bare, "refs/heads/broken"), `${"1".repeat(40)}\n`);
  await expect(toldByBare(made, made.stray)).rejects.toThrow("broken");
});

test("past a hole in the history of a safe ref nothing is called reached", async () => {
  const made = await makeCase();
  const { world, clone, bare, main, stray } = made;
  const [below, tip] = [world.commit(clone, "below"), world.commit(clone, "tip")];
  world.push(clone);
  rmSync(join(bare, "objects", below.slice(0, 2), below.slice(2)));
  const answers = await told(world, safeRefsOfBare(bare), [stray, main, tip]);
  expect(answers).toEqual({ reached: [tip], unreached: [stray, main], missing: [] });
});

const inClone = ({ world, clone }: Case, defaultBranch: string | null, commits: readonly string[]) =>
  told(world, safeRefsOfClone(join(clone, ".git"), defaultBranch), commits);

test("in a clone, a remote-tracking ref is safe", async () => {
  const made = await makeCase();
  made.world.git(made.clone, "update-ref", "refs/remotes/origin/x", made.stray);
  expect(await inClone(made, null, [made.stray])).toMatchObject({ reached: [made.stray] });
});

test("in a clone, its default branch is safe", async () => {
  const made = await makeCase();
  const commit = made.world.commit(made.clone);
  expect(await inClone(made, "refs/heads/main", [commit])).toMatchObject({ reached: [commit] });
  expect(await inClone(made, null, [commit])).toMatchObject({ unreached: [commit] });
});

test.each(["refs/heads/agents-own", "refs/tags/agents-own", "refs/stash", "refs/dl/archive/x/y/z", "refs/worktree/x"])(
  "in a clone, %s is not safe",
  async (ref) => {
    const made = await makeCase();
    made.world.git(made.clone, "update-ref", ref, made.stray);
    expect(await inClone(made, "refs/heads/main", [made.stray])).toMatchObject({ unreached: [made.stray] });
  },
);

test("in a clone, the HEADs of its own worktrees reach nothing", async () => {
  const made = await makeCase();
  const commit = made.world.commit(made.world.addWorktree("a1", { detach: true }));
  expect(made.world.git(made.clone, "rev-list", commit, "--not", "--all")).toBe("");
  expect(await inClone(made, "refs/heads/main", [commit])).toMatchObject({ unreached: [commit] });
});

test("in a clone, a tag that is called like the default branch is not asked in its place", async () => {
  const made = await makeCase();
  made.world.git(made.clone, "tag", "main", made.stray);
  expect(await inClone(made, "refs/heads/main", [made.stray])).toMatchObject({ unreached: [made.stray] });
});

test("in a clone, replace refs and grafts fake nothing", async () => {
  const made = await makeCase();
  const { world, clone, main, stray } = made;
  replaceByChild(world, clone, made);
  mkdirSync(join(clone, ".git/info"), { recursive: true });
  writeFileSync(join(clone, ".git/info/grafts"), `${main} ${stray}\n`);
  expect(await inClone(made, "refs/heads/main", [stray])).toMatchObject({ unreached: [stray] });
});

test("a commit-graph that a clone forged is not believed", async () => {
  const made = await makeCase();
  const { world, clone, main, stray } = made;
  world.git(clone, "update-ref", "refs/heads/stray", stray);
  world.git(clone, "commit-graph", "write", "--reachable");
  const file = join(clone, ".git/objects/info/commit-graph");
  forgeParent(file, main, stray);
  expect(world.git(clone, "-c", "core.commitGraph=true", "rev-list", stray, "--not", "refs/heads/main")).toBe("");
  expect(await inClone(made, "refs/heads/main", [stray])).toMatchObject({ unreached: [stray] });
});

/** Rewrites a commit-graph so that it calls `parent` the parent of `child` (gitformat-commit-graph(5)). */
function forgeParent(file: string, child: string, parent: string): void {
  const bytes = readFileSync(file);
  const chunk = (name: string): number => {
    for (let at = 8; ; at += 12)
      if (bytes.toString("latin1", at, at + 4) === name) return Number(bytes.readBigUInt64BE(at + 4));
  };
  const ids = chunk("OIDL");
  const position = (commit: string): number => {
    for (let n = 0; ; n++) if (bytes.toString("hex", ids + n * 20, ids + n * 20 + 20) === commit) return n;
  };
  const data = (commit: string): number => chunk("CDAT") + position(commit) * 36;
  bytes.writeUInt32BE(position(parent), data(child) + 20);
  // Generation numbers: the parent's may not be above the child's.
  bytes.writeUInt32BE(bytes.readUInt32BE(data(parent) + 28) + (8 << 2), data(child) + 28);
  const generations = chunk("GDA2");
  bytes.writeUInt32BE(1000, generations + position(child) * 4);
  rmSync(file);
  writeFileSync(file, bytes);
}

test("nothing asked is answered without git", async () => {
  const made = await makeCase();
  const { tools } = await stagesOf(made.world);
  const before = tools.git.started;
  expect(await askReach(tools.git, safeRefsOfBare("/nonexistent"), [])).toEqual({
    reached: new Set(),
    unreached: new Set(),
    missing: new Set(),
  });
  expect(await keepCommits(tools.git, "/nonexistent", [])).toEqual([]);
  expect(tools.git.started).toBe(before);
});

test("however many commits are asked for, two processes answer", async () => {
  const { world, bare, main } = await makeCase();
  const { tools } = await stagesOf(world);
  const commits = Array.from({ length: 300 }, (_, n) => `1${n.toString(16).padStart(39, "0")}`);
  const before = tools.git.started;
  const reach = await askReach(tools.git, safeRefsOfBare(bare), [...commits, main]);
  expect(tools.git.started - before).toBe(2);
  expect(reach.missing.size).toBe(300);
});

test("lists what no safe ref reaches, newest first, each commit with its parents", async () => {
  const { world, clone, main } = await makeCase();
  const { tools } = await stagesOf(world);
  const work = world.addWorktree("a1", { push: false });
  const [one, two] = [world.commit(work, "one"), world.commit(work, "two")];
  const root = world.git(work, "commit-tree", "-m", "root", "HEAD^{tree}").trim();
  const merge = world.git(work, "commit-tree", "-p", two, "-p", root, "-m", "merge", "HEAD^{tree}").trim();
  const listed = await listUnreachedWithParents(tools.git, safeRefsOfClone(join(clone, ".git"), "refs/heads/main"), [
    merge,
  ]);
  expect(Object.fromEntries(listed)).toEqual({ [merge]: [two, root], [two]: [one], [one]: [main], [root]: [] });
  expect([...listed.keys()][0]).toBe(merge);
});
