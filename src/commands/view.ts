import type { BaseContext } from "clipanion";
import type { Writable } from "node:stream";
import type { Flags } from "../plan/plan.ts";
import type { View } from "../report/view.ts";
import { makeStyle } from "../report/style.ts";

/** Whether colour may be used: on a terminal that takes it, and not where NO_COLOR is set (https://no-color.org). */
export function takesColour({ stdout, colorDepth, env }: BaseContext): boolean {
  return isTerminal(stdout) && colorDepth > 1 && !env.NO_COLOR;
}

/** Decides how text is shown: colour and width only on a terminal. */
export function makeView(context: BaseContext, options: { readonly verbose: boolean; readonly flags: Flags }): View {
  const { stdout } = context;
  const width = isTerminal(stdout) ? (stdout.columns ?? 80) : null;
  return { style: makeStyle(takesColour(context)), width, now: new Date(), ...options };
}

function isTerminal(
  stream: Writable & { isTTY?: boolean; columns?: number },
): stream is Writable & { isTTY: true; columns?: number } {
  return stream.isTTY === true;
}
