import { realpathSync } from "node:fs";
import { dir } from "tmp-promise";
import { onTestFinished } from "vitest";
import type { WorldOptions } from "../../fixtures/world.ts";
import { World, destroyTree } from "../../fixtures/world.ts";

/** Makes an empty directory that goes when the running test ends, whatever modes the test gave to what is in it. */
export async function temporaryDirectory(): Promise<string> {
  const { path } = await dir({ prefix: "dl-test-" });
  onTestFinished(() => destroyTree(path));
  // macOS keeps temporary files behind a symbolic link, and paths are compared as text.
  return realpathSync(path);
}

/** Makes a world that goes when the running test ends. */
export async function temporaryWorld(options: Omit<WorldOptions, "directory"> = {}): Promise<World> {
  return new World({ ...options, directory: await temporaryDirectory() });
}
