import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { dir, setGracefulCleanup } from "tmp-promise";
import { beforeAll, expect, onTestFinished, test } from "vitest";

setGracefulCleanup();

let script = "";

/** A program that watches, reports its first signal, and goes on for as long as it is let. */
beforeAll(async () => {
  const { path, cleanup } = await dir({ unsafeCleanup: true });
  script = join(path, "watch.mjs");
  await build({
    stdin: {
      contents: `
        import { KnownError } from "../errors.ts";
        import { Interrupted, watchInterrupts } from "./interrupt.ts";
        const interrupt = watchInterrupts();
        const { signal } = interrupt;
        console.log(JSON.stringify([signal.aborted, interrupt.exitCode]));
        signal.addEventListener("abort", () => {
          const { reason } = signal;
          if (process.argv[2] === "stop") interrupt.stop();
          console.log(JSON.stringify([interrupt.exitCode, reason.exitCode, reason.message, reason instanceof Interrupted && reason instanceof KnownError]));
        });
        setInterval(() => {}, 1000);
        process.stdin.on("data", () => process.exit(interrupt.exitCode ?? 0)).resume();`,
      resolveDir: fileURLToPath(new URL("../../src/system", import.meta.url)),
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: script,
  });
  return cleanup;
});

async function watching(...args: string[]) {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const line = async (): Promise<unknown> => JSON.parse(String((await once(child.stdout, "data"))[0]));
  expect(await line()).toEqual([false, null]);
  return { child, line, ended };
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("turns %s into an abort with exit code %i, and lets the current step finish", async (signal, exitCode) => {
  const { child, line, ended } = await watching();
  child.kill(signal);
  expect(await line()).toEqual([exitCode, exitCode, "Interrupted.", true]);
  child.stdin.write("finished\n");
  expect(await ended).toEqual([exitCode, null]);
});

test("ends at once at the second SIGINT", async () => {
  const { child, line, ended } = await watching();
  child.kill("SIGINT");
  await line();
  child.kill("SIGINT");
  expect(await ended).toEqual([130, null]);
});

test("does not end at a second SIGTERM, and keeps the exit code of the first signal", async () => {
  const { child, line, ended } = await watching();
  child.kill("SIGINT");
  await line();
  child.kill("SIGTERM");
  child.kill("SIGHUP");
  await new Promise((resolve) => setTimeout(resolve, 100));
  child.stdin.write("finished\n");
  expect(await ended).toEqual([130, null]);
});

test("leaves the signals alone once it is stopped", async () => {
  const { child, line, ended } = await watching("stop");
  child.kill("SIGTERM");
  await line();
  child.kill("SIGTERM");
  expect(await ended).toEqual([null, "SIGTERM"]);
});
