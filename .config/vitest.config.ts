import { defineConfig } from "vitest/config";

export default defineConfig({
  // clipanion 3's entry has no extension: with .mjs first, Vite finds a build that Node itself would never load.
  resolve: { extensions: [".js", ".mjs", ".ts", ".json"] },
  test: { root: ".", include: ["test/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 },
});
