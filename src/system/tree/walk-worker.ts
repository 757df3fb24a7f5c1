import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort, type MessagePort } from "node:worker_threads";
import { walkByNode } from "./node-walk.ts";

/** A tree to walk, and where to send its records: as text, and then null, or an error. Who closes the port wants no more of them. */
export interface WalkRequest {
  readonly tree: string;
  readonly without: readonly number[];
  readonly port: MessagePort;
}

parentPort?.on("message", async ({ tree, without, port }: WalkRequest) => {
  let isWanted = true;
  port.once("close", () => (isWanted = false));
  try {
    for (const records of walkByNode(tree, without)) {
      port.postMessage(records);
      // Whoever asked may have gone, and another walk may be waiting.
      await nextTurn();
      if (!isWanted) return;
    }
    port.postMessage(null);
  } catch (error) {
    port.postMessage(error);
  }
  port.close();
});
