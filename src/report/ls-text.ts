import Table from "cli-table3";
import type { DiskEntry, LsCloneEntry, LsDocument, LsWorktreeEntry, LsWorktreeNote } from "./documents.ts";
import { ago, harmless, nameOf, pad, plural, reasonWords, shortenMiddle, size, widest, wrap } from "./plain-text.ts";
import type { View } from "./view.ts";

const BAR_WIDTH = 8;
const INDENT = "  ";
/** From this width on a worktree's first reason is told in its words, and below by its code. */
const WIDE = 140;
/** A name is not shortened below this, however narrow the terminal. */
const LEAST = 6;
/** How much wider the first of the columns that hold names stays than the others: it is what people look for. */
const FIRST = 8;
/** Below this width there is no bar. */
const ROOM_FOR_BAR = 76;
/** No borders, two blanks between columns: a table that can be read, cut and pasted. */
const BLANK = Object.fromEntries(
  ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"]
    .concat(["left", "left-mid", "mid", "mid-mid", "right", "right-mid"])
    .map((name) => [name, ""]),
);

/** Returns a listing as text: a line a clone, with `--worktrees` a line a worktree beneath it, and the totals. */
export function renderLs(document: LsDocument, notes: ReadonlyMap<string, LsWorktreeNote>, view: View): string {
  const { clones, totals } = document;
  if (clones.length === 0) return "No clones.\n";
  const rows = totals.bytes === null ? plainRows(document, view) : sizedRows(document, totals.bytes, view);
  const [head = "", ...lines] = laidOut(rows, { long: [0, 1], right: totals.bytes === null ? [] : [3] }, view);
  const beneath = worktreeLines(document, notes, view);
  const all = [
    view.style.dim(head),
    ...clones.flatMap((clone, i) => [lines[i] ?? "", ...errorLines(clone, view), ...(beneath[i] ?? [])]),
    view.style.bold(lines.at(-1) ?? ""),
  ];
  return `${all.map((line) => line.trimEnd()).join("\n")}\n`;
}

const HEAD = ["CLONE", "BRANCH", "LAST FETCH"];

/** The head, a row a clone, and the totals. */
function plainRows({ clones, totals }: LsDocument, view: View): string[][] {
  return [
    [...HEAD, "WORKTREES"],
    ...clones.map((clone) => [...cloneCells(clone, view), String(clone.worktreeCount)]),
    [plural(totals.clones, "clone"), "", "", String(totals.worktrees)],
  ];
}

/** The same with sizes: what a clone weighs, and how many worktrees are how much of it. */
function sizedRows({ clones, totals }: LsDocument, bytes: number, view: View): string[][] {
  const isFloor = (disks: (DiskEntry | null)[]): boolean => disks.some((disk) => disk === null || disk.isFloor);
  const total = size(bytes, isFloor(clones.map(({ disk }) => disk)));
  const totalShare = size(totals.worktreesBytes, isFloor(clones.map(({ worktreesDisk }) => worktreesDisk)));
  const count = String(totals.worktrees).length;
  const share = widest([totalShare, ...clones.map(({ worktreesDisk }) => diskSize(worktreesDisk))]);
  const hasBar = view.width === null || view.width >= ROOM_FOR_BAR;
  const cell = (worktrees: number, middle: string, figure: string): string =>
    `${pad(String(worktrees), count, "left")}  ${hasBar ? `${pad(middle, BAR_WIDTH)} ` : ""}${pad(figure, share, "left")}`;
  return [
    [...HEAD, "SIZE", "WORKTREES"],
    ...clones.map((clone) => [
      ...cloneCells(clone, view),
      diskSize(clone.disk),
      cell(clone.worktreeCount, view.style.cyan(bar(clone)), diskSize(clone.worktreesDisk)),
    ]),
    [plural(totals.clones, "clone"), "", "", total, cell(totals.worktrees, "", totalShare)],
  ];
}

function cloneCells({ owner, repo, workspace, branch, bare, error }: LsCloneEntry, view: View): string[] {
  const fetched = bare?.lastFetch ?? null;
  return [
    harmless([owner, repo, workspace].filter((part) => part !== null).join("/")),
    harmless(branch ?? (error === null ? "detached" : "?")),
    bare === null ? "no .bare" : fetched === null ? "never" : ago(new Date(fetched), view.now),
  ];
}

function diskSize(disk: DiskEntry | null): string {
  return size(disk?.bytes ?? null, disk?.isFloor);
}

/** How much of a clone its worktrees are; what is there at all shows. */
function bar({ disk, worktreesDisk }: LsCloneEntry): string {
  if (disk === null || worktreesDisk === null) return "";
  const part = worktreesDisk.bytes / Math.max(1, disk.bytes);
  const filled = Math.min(BAR_WIDTH, Math.max(worktreesDisk.bytes > 0 ? 1 : 0, Math.round(part * BAR_WIDTH)));
  return "▇".repeat(filled) + "·".repeat(BAR_WIDTH - filled);
}

function errorLines({ error }: LsCloneEntry, view: View): string[] {
  if (error === null) return [];
  const room = view.width === null ? null : Math.max(20, view.width - INDENT.length);
  return wrap(`could not be read: ${harmless(error)}`, room).map((line) => INDENT + view.style.red(line));
}

/** The lines of all worktrees, clone by clone; their columns stand beneath each other in the whole listing. */
function worktreeLines(
  { clones, totals }: LsDocument,
  notes: ReadonlyMap<string, LsWorktreeNote>,
  view: View,
): string[][] {
  const isSized = totals.bytes !== null;
  const rows = clones.map((clone) =>
    (clone.worktrees ?? []).map((entry) => [
      `${INDENT}${nameOf(entry.path)}`,
      ...(isSized ? [size(entry.bytes, entry.bytesAreFloor)] : []),
      ...worktreeCells(entry, notes.get(`${clone.path}/${entry.path}`), view),
    ]),
  );
  const lines = laidOut(rows.flat(), isSized ? { long: [0, 3, 5], right: [1] } : { long: [0, 2, 4], right: [] }, view);
  let from = 0;
  return rows.map(({ length }) => lines.slice(from, (from += length)));
}

/** Class, branch, age of the newest commit, first reason. */
function worktreeCells(entry: LsWorktreeEntry, note: LsWorktreeNote | undefined, view: View): string[] {
  const { branch, committedAt, reason } = note ?? { branch: null, committedAt: null, reason: null };
  const isWide = view.width === null || view.width >= WIDE;
  const why =
    reason === null ? "" : isWide ? `${harmless(reason.code)}: ${reasonWords(reason)}` : harmless(reason.code);
  const age = committedAt === null ? "-" : ago(committedAt, view.now);
  return [entry.class, harmless(branch ?? "-"), age, why];
}

interface Columns {
  /** Which columns hold names, and give way on a narrow terminal. */
  readonly long: readonly number[];
  readonly right: readonly number[];
}

/** Lays rows out in columns, in the width of the terminal. */
function laidOut(rows: readonly (readonly string[])[], { long, right }: Columns, view: View): string[] {
  if (rows.length === 0) return [];
  const widths = (rows[0] ?? []).map((_, column) => widest(rows.map((row) => row[column] ?? "")));
  if (view.width !== null) narrow(widths, long, view.width - INDENT.length * (widths.length - 1));
  const table = new Table({
    chars: { ...BLANK, middle: INDENT },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colAligns: widths.map((_, column) => (right.includes(column) ? "right" : "left")),
  });
  const isLong = (column: number): boolean => long.includes(column);
  table.push(
    ...rows.map((row) => row.map((cell, column) => (isLong(column) ? shortenMiddle(cell, widths[column] ?? 0) : cell))),
  );
  return table.toString().split("\n");
}

/** Takes room away from the widest of some columns until all fit, so that no name is cut while a longer one is whole. */
function narrow(widths: number[], long: readonly number[], room: number): void {
  const spare = (column: number): number => (widths[column] ?? 0) - LEAST;
  const claim = (column: number): number => spare(column) - (column === long[0] ? FIRST : 0);
  for (let over = widths.reduce((sum, width) => sum + width, -room); over > 0; over--) {
    const column = long.filter((one) => spare(one) > 0).toSorted((a, b) => claim(b) - claim(a))[0];
    if (column === undefined) return;
    widths[column] = LEAST + spare(column) - 1;
  }
}
