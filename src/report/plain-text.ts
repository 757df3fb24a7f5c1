import prettyBytes from "pretty-bytes";
import stringWidth from "string-width";
import { WORKTREES_PLACE } from "../model/place.ts";
import type { ReasonEntry } from "./documents.ts";

/** Control, format and separator characters, lone surrogates, and all that takes no room: what can steer a terminal, hide or forge. */
const HARMFUL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns a text of a repository's as it may reach a terminal: what controls one is shown as an escape, `\x1b` or `\u202e`. */
export function harmless(text: string): string {
  return text.replace(HARMFUL, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\t") return "\\t";
    const code = (character.codePointAt(0) ?? 0).toString(16);
    if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
    return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\u{${code}}`;
  });
}

/** Returns a document as JSON that no terminal can be steered with: what `harmless` shows as an escape is a JSON escape here, and the same data. */
export function jsonText(document: unknown): string {
  const text = JSON.stringify(document, null, 2).replace(HARMFUL, (character) => {
    if (character === "\n") return character;
    return Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`,
    ).join("");
  });
  return `${text}\n`;
}

/** Returns a worktree's name: its place without the worktrees places in it, `a1 › n1`; also of places among other words. */
export function nameOf(place: string): string {
  return harmless(place.replaceAll(`/${WORKTREES_PLACE}/`, " › ").replaceAll(`${WORKTREES_PLACE}/`, ""));
}

/** Returns a reason's own words as people read them: worktrees by name, bytes in binary units. */
export function reasonWords({ code, detail }: ReasonEntry): string {
  if (code === "nested") return nameOf(detail);
  if (code !== "ignored") return harmless(detail);
  return harmless(detail).replace(
    /^(\d+ ignored files?) \((\d+) bytes\)/,
    (_, files, bytes) => `${files}, ${size(Number(bytes))},`,
  );
}

/** Returns a text as one word of a command that people copy into a shell: a name of a repository's must not run there. */
export function shellWord(text: string): string {
  const shown = harmless(text);
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
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

/**
 * Returns a text in lines of at most so many columns, broken at its blanks; a word that is wider than a line is shortened in the middle, or
 * left whole. With null it is one line.
 */
export function wrap(text: string, width: number | null, wide: "shortened" | "whole" = "shortened"): string[] {
  if (width === null || displayWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line: string | null = null;
  for (const one of text.split(" ")) {
    const word = wide === "whole" ? one : shortenMiddle(one, width);
    const longer: string = line === null ? word : `${line} ${word}`;
    if (line === null || displayWidth(longer) <= width) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line ?? ""];
}

/** Returns the columns that the widest of some texts takes; 0 where there are none. */
export function widest(texts: Iterable<string>): number {
  let columns = 0;
  for (const text of texts) columns = Math.max(columns, displayWidth(text));
  return columns;
}
