import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Repository, World } from "../../../fixtures/world.ts";
import { readBranches } from "../../../src/git/refs.ts";
import type { Clone } from "../../../src/model/clone.ts";
import { answered, unanswered, type Answer, type UnpushedCommits } from "../../../src/model/evidence.ts";
import { ask } from "../../../src/scan/questions/ask.ts";
import { askUnpushed } from "../../../src/scan/questions/unpushed.ts";
import { cloneOf } from "../../helpers/clone.ts";
import { stagesOf } from "../../helpers/stages.ts";
import { temporaryWorld } from "../../helpers/temporary.ts";

type Commits = readonly string[] | Answer<readonly string[]>;

/** Asks for each list of commits of clones of one repository, all at once. */
async function unpushed(
  world: World,
  ...asked: readonly (readonly [Repository, Commits])[]
): Promise<Answer<UnpushedCommits>[]> {
  const { tools } = await stagesOf(world);
  const clones = new Map<Repository, Clone>();
  const all = [];
  for (const [repository, commits] of asked) {
    const clone = clones.get(repository) ?? cloneOf(repository);
    clones.set(repository, clone);
    const branches = await ask(() => readBranches(tools.git, clone.gitDir));
    all.push({ clone, branches, commits: "kind" in commits ? commits : answered(commits) });
  }
  const bare = asked[0]?.[0].bare ?? null;
  return askUnpushed(tools, bare === null ? null : { path: bare, lastFetch: null }, all);
}

const are = (...commits: readonly string[]): Answer<UnpushedCommits> => answered({ commits });
const head = (world: World, directory: string): string => world.git(directory, "rev-parse", "HEAD").trim();

test("a commit that was pushed and is in the bare is safe", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const commit = world.commit(work);
  world.push(work);
  expect(await unpushed(world, [world.main, [commit]])).toEqual([are()]);
});

test("commits that are nowhere else are named, newest first, and nothing that is safe with them", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const [one, two] = [world.commit(work, "one"), world.commit(work, "two")];
  expect(await unpushed(world, [world.main, [two]])).toEqual([are(two, one)]);
});

test("each is told its own commits alone", async () => {
  const world = await temporaryWorld();
  const a1 = world.addWorktree("a1");
  const shared = world.commit(a1, "shared");
  const b1 = world.addWorktree("b1", { from: shared, push: false });
  const [onA, onB] = [world.commit(a1, "a"), world.commit(b1, "b")];
  const [ofA, ofB, ofC] = await unpushed(world, [world.main, [onA]], [world.main, [onB]], [world.main, [shared]]);
  expect([ofA, ofB, ofC]).toEqual([are(onA, shared), are(onB, shared), are(shared)]);
});

test("several commits of one are told together, each once", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const one = world.commit(work, "one");
  world.git(work, "checkout", "-q", "--detach", "main");
  const two = world.commit(work, "two");
  const [answer] = await unpushed(world, [world.main, [two, one, two]]);
  expect(answer?.kind === "answered" && new Set(answer.value.commits)).toEqual(new Set([one, two]));
});

test("pushed, but since deleted at the forge and pruned in the bare, is not safe", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const commit = world.commit(work);
  world.push(work);
  world.git(world.main.forge, "update-ref", "-d", "refs/heads/a1");
  world.fetchBare();
  world.git(world.main.clone, "update-ref", "-d", "refs/remotes/origin/a1");
  expect(await unpushed(world, [world.main, [commit]])).toEqual([are(commit)]);
});

test("pushed, but not fetched into the bare yet, is safe by the clone's own remote-tracking ref", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const commit = world.commit(work);
  world.push(work, "a1", { fetch: false });
  expect(await unpushed(world, [world.main, [commit]])).toEqual([are()]);
});

test("an old remote-tracking ref of the clone does not unsay what the bare has", async () => {
  const world = await temporaryWorld();
  const other = world.addClone("ws2");
  const commit = world.commit(other.clone);
  world.push(other.clone);
  const work = world.addWorktree("a1");
  world.git(work, "fetch", "-q", other.clone, "main");
  world.git(work, "merge", "-q", "--ff-only", "FETCH_HEAD");
  expect(await unpushed(world, [world.main, [commit]])).toEqual([are()]);
});

test("of what stands on commits that only the bare knows, only the new part is named", async () => {
  const world = await temporaryWorld();
  const other = world.addClone("ws2");
  world.commit(other.clone);
  world.push(other.clone);
  const work = world.addWorktree("a1");
  world.git(work, "fetch", "-q", other.clone, "main");
  world.git(work, "merge", "-q", "--ff-only", "FETCH_HEAD");
  const commit = world.commit(work);
  expect(await unpushed(world, [world.main, [commit]])).toEqual([are(commit)]);
});

test("the clone's default branch is safe: it stays when a worktree goes", async () => {
  const world = await temporaryWorld();
  const commit = world.commit(world.main.clone);
  expect(await unpushed(world, [world.main, [commit]])).toEqual([are()]);
});

test.each(["refs/heads/agents-own", "refs/tags/v1", "refs/stash"])("%s of the clone is not safe", async (ref) => {
  const world = await temporaryWorld();
  const commit = world.commit(world.addWorktree("a1", { detach: true }));
  world.git(world.main.clone, "update-ref", ref, commit);
  expect(await unpushed(world, [world.main, [commit]])).toEqual([are(commit)]);
});

test("a stale branch of the clone named like the bare's default is no safe one, when the bare's is another", async () => {
  const world = await temporaryWorld({ defaultBranch: "trunk" });
  const work = world.addWorktree("a1", { branch: "main", push: false });
  const commit = world.commit(work);
  expect(await unpushed(world, [world.main, [commit]])).toEqual([are(commit)]);
});

test("without a bare, the clone's remote-tracking refs and default branch are asked", async () => {
  const world = await temporaryWorld({ bare: false });
  const work = world.addWorktree("a1");
  const pushed = head(world, work);
  const commit = world.commit(work);
  expect(await unpushed(world, [world.main, [pushed]], [world.main, [commit]])).toEqual([are(), are(commit)]);
});

test("a commit that is not there is no answer, and keeps nobody else from one", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const safe = head(world, work);
  const commit = world.commit(work);
  const gone = "1".repeat(40);
  expect(await unpushed(world, [world.main, [safe, gone]], [world.main, [safe]], [world.main, [commit]])).toEqual([
    unanswered(`${gone} names no commit of the repository`),
    are(),
    are(commit),
  ]);
});

test.each(["HEAD^{tree}", "HEAD:README.md"])("an object that is no commit is no answer: %s", async (revision) => {
  const world = await temporaryWorld();
  const object = world.git(world.main.clone, "rev-parse", revision).trim();
  const [answer] = await unpushed(world, [world.main, [object]]);
  expect(answer).toEqual(unanswered(`${object} names no commit of the repository`));
});

test("no commits are no objection", async () => {
  const world = await temporaryWorld();
  expect(await unpushed(world, [world.main, []])).toEqual([are()]);
});

test("commits that could not be read have no answer", async () => {
  const world = await temporaryWorld();
  const words = unanswered("its HEAD is a link");
  expect(await unpushed(world, [world.main, words], [world.main, [head(world, world.main.clone)]])).toEqual([
    words,
    are(),
  ]);
});

test("a bare that cannot be read leaves all without an answer, though the clone might say", async () => {
  const world = await temporaryWorld();
  writeFileSync(join(world.main.bare ?? "", "refs/heads/broken"), `${"1".repeat(40)}\n`);
  const [answer] = await unpushed(world, [world.main, [head(world, world.main.clone)]]);
  expect(answer).toEqual(unanswered(expect.stringContaining("broken") as string));
});

test("a clone that cannot be read leaves only its own without an answer", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const pushed = head(world, work);
  const commit = world.commit(work);
  const other = world.addClone("ws2");
  const others = world.commit(world.addWorktree("b1", { inside: other.clone, push: false }));
  writeFileSync(join(other.clone, ".git/refs/remotes/origin/broken"), `${"1".repeat(40)}\n`);
  const [safe, ofMain, ofOther] = await unpushed(
    world,
    [world.main, [pushed]],
    [world.main, [commit]],
    [other, [others]],
  );
  expect([safe, ofMain]).toEqual([are(), are(commit)]);
  expect(ofOther).toEqual(unanswered(expect.stringContaining("broken") as string));
});

test("however many worktrees ask, a clone is asked once", async () => {
  const world = await temporaryWorld();
  const work = world.addWorktree("a1");
  const commits = ["one", "two", "three"].map((name) => world.commit(work, name));
  const { tools } = await stagesOf(world);
  const clone = cloneOf(world.main);
  const branches = answered(await readBranches(tools.git, clone.gitDir));
  const ask1 = { clone, branches, commits: answered(commits.slice(0, 1)) };
  const before = tools.git.started;
  await askUnpushed(tools, clone.bare, [ask1]);
  const forOne = tools.git.started - before;
  await askUnpushed(
    tools,
    clone.bare,
    commits.map((commit) => ({ clone, branches, commits: answered([commit]) })),
  );
  expect(tools.git.started - before - forOne).toBe(forOne);
});
