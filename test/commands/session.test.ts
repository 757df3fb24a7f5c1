import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { withSession } from "../../src/commands/session.ts";
import { runChild } from "../../src/system/child.ts";
import { temporaryWorld } from "../helpers/temporary.ts";

test("as many programs as there may be listen to one signal without a warning", async () => {
  const world = await temporaryWorld();
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const output = { stdin: process.stdin, stdout: new PassThrough(), stderr: new PassThrough(), colorDepth: 1 };
  await withSession({ ...output, env: world.env }, world.reposDir, async ({ tools: { programs, signal } }) => {
    const sleeping = Array.from({ length: 40 }, () => runChild("/bin/sleep", ["0.2"], { env: programs.env, signal }));
    await Promise.all(sleeping);
  });
  expect(warnings).toEqual([]);
});
