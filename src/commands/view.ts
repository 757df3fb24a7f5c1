import type { BaseContext } from "clipanion";
import type { Flags } from "../plan/plan.ts";
import type { View } from "../report/view.ts";
import { makeStyle } from "../report/style.ts";

/** Decides how text is shown: colour and width only on a terminal that takes them; NO_COLOR is honoured (https://no-color.org). */
export function makeView(context: BaseContext, options: { readonly verbose: boolean; readonly flags: Flags }): View {
  const stdout = context.stdout as BaseContext["stdout"] & { isTTY?: boolean; columns?: number };
  const isTerminal = stdout.isTTY === true;
  const colour = isTerminal && context.colorDepth > 1 && !context.env.NO_COLOR;
  return { style: makeStyle(colour), width: isTerminal ? (stdout.columns ?? 80) : null, now: new Date(), ...options };
}
