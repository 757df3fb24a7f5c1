import { join } from "node:path";
import { expect, test } from "vitest";
import { readCommitDates } from "../../src/git/commit-dates.ts";
import { stagesOf } from "../helpers/stages.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

test("tells when each commit was made, and leaves out those that are not there", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const first = world.git(world.main.clone, "rev-parse", "HEAD").trim();
  const second = world.commit(world.main.clone);
  const gitDir = join(world.main.clone, ".git");
  const dateOf = (commit: string) => new Date(world.git(world.main.clone, "show", "-s", "--format=%cI", commit).trim());
  expect(await readCommitDates(tools.git, gitDir, [second, "1".repeat(40), first])).toEqual(
    new Map([
      [second, dateOf(second)],
      [first, dateOf(first)],
    ]),
  );
});

test("starts no git to ask for nothing", async () => {
  const world = await temporaryWorld();
  const { tools } = await stagesOf(world);
  const before = tools.git.started;
  expect(await readCommitDates(tools.git, "/nonexistent", [])).toEqual(new Map());
  expect(tools.git.started).toBe(before);
});
