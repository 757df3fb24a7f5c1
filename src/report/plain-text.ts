import prettyBytes from "pretty-bytes";
import stringWidth from "string-width";

/** C0, DEL, C1, bidirectional controls and isolates, zero-width and line separators, the byte order mark: all that can hide or forge. */
const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Returns a text of a repository's as it may reach a terminal: what controls one is shown as an escape, `\x1b` or `\u202e`. */
export function harmless(text: string): string {
  return text.replace(HARMFUL, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\t") return "\\t";
    const code = character.charCodeAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** Returns allocated bytes in binary units (KiB, MiB, GiB); `≥ ` before a figure that is only a floor, `?` for one that is not known. */
export function size(bytes: number | null, isFloor = false): string {
  if (bytes === null) return "?";
  return `${isFloor ? "≥ " : ""}${prettyBytes(bytes, { binary: true })}`;
}

/** Returns a number with its noun. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const STEPS: readonly (readonly [unit: string, seconds: number])[] = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Returns how long ago a date was: `2 hours ago`, `just now`. */
export function ago(date: Date, now: Date): string {
  const seconds = (now.getTime() - date.getTime()) / 1000;
  for (const [unit, length] of STEPS) if (seconds >= length) return `${plural(Math.floor(seconds / length), unit)} ago`;
  return "just now";
}

/** Returns how many columns a text takes on a terminal. */
export function displayWidth(text: string): number {
  return stringWidth(text);
}

/** Fills a text up with blanks to a number of columns, on the right or on the left. */
export function pad(text: string, width: number, side: "right" | "left" = "right"): string {
  const blanks = " ".repeat(Math.max(0, width - displayWidth(text)));
  return side === "right" ? text + blanks : blanks + text;
}

/** Returns a text in at most so many columns, its middle taken out where it is too long. */
export function shortenMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width <= 1) return width === 1 ? "…" : "";
  const graphemes = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  let head = "";
  let tail = "";
  for (let from = 0, to = graphemes.length - 1; from <= to;) {
    const isHeadsTurn = displayWidth(head) <= displayWidth(tail);
    const next = graphemes[isHeadsTurn ? from : to] ?? "";
    if (displayWidth(head) + displayWidth(tail) + displayWidth(next) > width - 1) break;
    if (isHeadsTurn) {
      head += next;
      from++;
    } else {
      tail = next + tail;
      to--;
    }
  }
  return `${head}…${tail}`;
}
