import { statfsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freeSpace } from "../../src/system/free-space.ts";
import { temporaryDirectory } from "../helpers/temporary.ts";

test("free space is said in bytes, and is not known of a path that is not there", async () => {
  const directory = await temporaryDirectory();
  const { blocks, bsize } = statfsSync(directory);
  const free = await freeSpace(directory);
  expect(free).toBeGreaterThan(0);
  expect(free).toBeLessThanOrEqual(blocks * bsize);
  expect(await freeSpace(join(directory, "missing"))).toBeNull();
});
