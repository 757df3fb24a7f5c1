import { readFileSync } from "node:fs";

/** dl's own version, from the package it was installed with. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
