import Table from "cli-table3";
import { WORKTREES_PLACE } from "../model/place.ts";
import type { LsCloneEntry, LsDocument, LsWorktreeNote } from "./documents.ts";
import { ago, harmless, plural, shortenMiddle, size } from "./plain-text.ts";
import type { View } from "./view.ts";

const BAR_WIDTH = 8;
/** No borders, two blanks between columns: a table that can be read, cut and pasted. */
const BLANK = Object.fromEntries(
  ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"]
    .concat(["left", "left-mid", "mid", "mid-mid", "right", "right-mid"])
    .map((name) => [name, ""]),
);

/** Returns a listing as text: a line a clone, with `--worktrees` a line a worktree beneath it, and the totals. */
export function renderLs(document: LsDocument, notes: ReadonlyMap<string, LsWorktreeNote>, view: View): string {
  if (document.clones.length === 0) return "No clones.\n";
  const hasSizes = document.totals.bytes !== null;
  const table = new Table({
    chars: { ...BLANK, middle: "  " },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colAligns: hasSizes ? ["left", "left", "right", "left", "right", "left"] : [],
  });
  const head = ["CLONE", "BRANCH", "WORKTREES", "LAST FETCH", ...(hasSizes ? ["SIZE", "OF IT WORKTREES"] : [])];
  table.push(head.map(view.style.dim));
  const nameWidth = view.width === null ? null : Math.max(16, view.width - (hasSizes ? 78 : 46));
  for (const clone of document.clones) {
    table.push(cloneRow(clone, hasSizes, nameWidth, view));
  }
  const lines = table.toString().split("\n");
  const withWorktrees = document.clones.flatMap((clone, i) => [
    lines[i + 1] ?? "",
    ...errorLines(clone, view),
    ...worktreeLines(clone, notes, view),
  ]);
  return `${[lines[0] ?? "", ...withWorktrees, "", view.style.bold(totals(document))].map((line) => line.trimEnd()).join("\n")}\n`;
}

function cloneRow(clone: LsCloneEntry, hasSizes: boolean, nameWidth: number | null, view: View): string[] {
  const name = harmless([clone.owner, clone.repo, clone.workspace].filter((part) => part !== null).join("/"));
  const fit = (text: string, width: number): string => (view.width === null ? text : shortenMiddle(text, width));
  return [
    nameWidth === null ? name : shortenMiddle(name, nameWidth),
    fit(harmless(clone.branch ?? "detached"), 20),
    String(clone.worktreeCount),
    clone.bare === null
      ? "no .bare"
      : clone.bare.lastFetch === null
        ? "never"
        : ago(new Date(clone.bare.lastFetch), view.now),
    ...(hasSizes ? [size(clone.disk?.bytes ?? null, clone.disk?.isFloor), share(clone, view)] : []),
  ];
}

function share({ disk, worktreesDisk }: LsCloneEntry, view: View): string {
  if (disk === null || worktreesDisk === null) return "?";
  const part = disk.bytes === 0 ? 0 : worktreesDisk.bytes / disk.bytes;
  const filled = Math.round(part * BAR_WIDTH);
  const bar = `${"▇".repeat(filled)}${"·".repeat(BAR_WIDTH - filled)}`;
  return `${view.style.cyan(bar)} ${size(worktreesDisk.bytes, worktreesDisk.isFloor)}`;
}

function errorLines({ error }: LsCloneEntry, view: View): string[] {
  return error === null ? [] : [`    ${view.style.red("could not be read:")} ${harmless(error)}`];
}

function worktreeLines(clone: LsCloneEntry, notes: ReadonlyMap<string, LsWorktreeNote>, view: View): string[] {
  const rows = (clone.worktrees ?? []).map((entry) => {
    const note = notes.get(`${clone.path}/${entry.path}`);
    const name = harmless(
      entry.path
        .split(`${WORKTREES_PLACE}/`)
        .filter((part) => part !== "")
        .map((part) => part.replace(/\/$/, ""))
        .join(" › "),
    );
    const why =
      note?.reason === undefined || note.reason === null ? "" : `${note.reason.code}: ${harmless(note.reason.detail)}`;
    const fit = (text: string, width: number): string => (view.width === null ? text : shortenMiddle(text, width));
    return [
      "  ",
      fit(name, 28),
      entry.class,
      fit(harmless(note?.branch ?? "-"), 20),
      entry.bytes === null ? "" : size(entry.bytes, entry.bytesAreFloor),
      note?.committedAt === undefined || note.committedAt === null ? "" : ago(note.committedAt, view.now),
      view.width === null ? why : shortenMiddle(why, Math.max(10, view.width - 92)),
    ];
  });
  if (rows.length === 0) return [];
  const table = new Table({
    chars: { ...BLANK, middle: "  " },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colAligns: ["left", "left", "left", "left", "right", "left", "left"],
  });
  table.push(...rows);
  return table.toString().split("\n");
}

function totals({ totals: { clones, worktrees, bytes, worktreesBytes } }: LsDocument): string {
  const weight = bytes === null ? "" : `, ${size(bytes)}, of which worktrees ${size(worktreesBytes)}`;
  return `${plural(clones, "clone")}, ${plural(worktrees, "worktree")}${weight}`;
}
