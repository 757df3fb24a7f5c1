import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { KnownError } from "../../src/errors.ts";
import { Git } from "../../src/git/run.ts";
import { isSupported, requireGitVersion } from "../../src/git/version.ts";
import { Programs } from "../../src/system/programs.ts";
import { temporaryDirectory } from "../helpers/temporary.ts";

test.each([
  ["git version 2.34.0", true],
  ["git version 2.34.1.windows.1", true],
  ["git version 2.39.5 (Apple Git-154)", true],
  ["git version 2.100.0-rc1", true],
  ["git version 3.0.0", true],
  ["git version 2.33.9", false],
  ["git version 2.4.0", false],
  ["git version 1.99", false],
  ["hub version 2.39.5\ngit version 1.0", false],
  ["something else", false],
  ["", false],
])("%j is supported: %s", (text, supported) => {
  expect(isSupported(text)).toBe(supported);
});

/** A program called git, alone on a PATH. */
async function gitThat(script: string): Promise<Git> {
  const directory = await temporaryDirectory();
  writeFileSync(join(directory, "git"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(directory, "git"), 0o755);
  return new Git(new Programs(directory, "/nonexistent"));
}

test("the git of this machine is new enough", async () => {
  await expect(requireGitVersion(new Git(new Programs(process.env["PATH"], "/nonexistent")))).resolves.toBeUndefined();
});

test("a git that is too old is named, with what to do", async () => {
  const failure = requireGitVersion(await gitThat("echo git version 2.25.5"));
  await expect(failure).rejects.toThrow(KnownError);
  await expect(failure).rejects.toThrow(
    'dl needs git 2.34 or newer; this machine has "git version 2.25.5". Install a newer git and run again.',
  );
});

test("a git that does not run is a known error with its words", async () => {
  const failure = requireGitVersion(await gitThat("echo no libraries >&2; exit 127"));
  await expect(failure).rejects.toThrow(KnownError);
  await expect(failure).rejects.toThrow("git could not be started: no libraries");
});
