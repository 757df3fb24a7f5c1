import type { Style } from "./style.ts";

/** How a text is shown. */
export interface View {
  readonly style: Style;
  /** Columns of the terminal; null when piped: then nothing is shortened. */
  readonly width: number | null;
  readonly now: Date;
  readonly verbose: boolean;
  readonly flags: { readonly force: boolean; readonly discardIgnored: boolean };
}
