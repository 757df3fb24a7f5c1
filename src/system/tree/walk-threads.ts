import { on } from "node:events";
import { existsSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { MessageChannel, Worker } from "node:worker_threads";
import { walkByNode } from "./node-walk.ts";
import type { Asked, Walk } from "./records.ts";
import type { WalkRequest } from "./walk-worker.ts";

/** The threads' program. It lies beside this file, and where dl is bundled into one file, beside that one. */
export const WALK_WORKER = new URL("walk-worker.js", import.meta.url);

const THREADS = 2;

/** Without it, what the walk throws away makes each thread 25 MB bigger. */
const resourceLimits = { maxYoungGenerationSizeMb: 4 };

/**
 * Returns a walk by Node that needs no program, each tree in one of a few threads: they keep other work going, and no process alive.
 * Where their program is missing, as when tests run the sources, the walk takes turns with other work in this thread.
 */
export function createNodeWalk(worker: URL): Walk {
  if (!existsSync(worker)) return walkInTurns;
  const threads: Worker[] = [];
  let walks = 0;
  const nextThread = (): Worker => {
    const index = walks++ % THREADS;
    return (threads[index] ??= startThread(worker).once("exit", () => delete threads[index]));
  };
  return async function* (tree, { without, signal }) {
    const thread = nextThread();
    const { port1, port2 } = new MessageChannel();
    const onExit = (): void => port1.close();
    thread.once("exit", onExit);
    const request: WalkRequest = { tree, without, port: port2 };
    thread.postMessage(request, [port2]);
    try {
      for await (const [message] of on(port1, "message", { close: ["close"], ...(signal && { signal }) })) {
        if (message === null) return;
        if (message instanceof Error) throw message;
        yield Buffer.from(message, "latin1");
      }
      throw new Error(`the thread that walked ${tree} has ended`);
    } finally {
      thread.off("exit", onExit);
      port1.close();
    }
  };
}

function startThread(worker: URL): Worker {
  const thread = new Worker(worker, { resourceLimits });
  thread.unref();
  thread.setMaxListeners(0);
  // What went wrong in it ends the thread, and its walks tell.
  return thread.on("error", () => {});
}

async function* walkInTurns(tree: string, { without }: Asked): AsyncGenerator<Buffer> {
  for (const records of walkByNode(tree, without)) {
    yield Buffer.from(records, "latin1");
    await nextTurn();
  }
}
