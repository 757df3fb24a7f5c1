/** How words are set off: with colour on a terminal that takes it, else not at all. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

/** Makes the style for a terminal with or without colour. Widths are measured before a style is put on. */
export function makeStyle(colour: boolean): Style {
  const set = (on: number, off: number) => (text: string) =>
    colour && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: set(1, 22),
    dim: set(2, 22),
    red: set(31, 39),
    green: set(32, 39),
    yellow: set(33, 39),
    cyan: set(36, 39),
  };
}
