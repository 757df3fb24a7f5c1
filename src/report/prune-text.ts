import { WORKTREES_PLACE } from "../model/place.ts";
import { adviceFor } from "./advice.ts";
import type {
  CloneEntry,
  PruneDocument,
  PruneNotes,
  ReasonEntry,
  StrayRegistrationEntry,
  WorktreeEntry,
} from "./documents.ts";
import { ago, displayWidth, harmless, pad, plural, shortenMiddle, size } from "./plain-text.ts";
import type { View } from "./view.ts";

/** How many paths or commits of a reason are named; all of them with --verbose. */
const NAMED = 3;
const SIZE_WIDTH = 11;
const CLASS_WIDTH = 9;

/** Returns the plan as text: what goes, the biggest first, then what stays, each with its reasons and what would let it go. */
export function renderPlan(document: PruneDocument, view: View): string {
  const lines = document.clones.flatMap((clone) => planOfClone(clone, view));
  return finish([...lines, ...closing(document, view)]);
}

/** Returns what an acting pass came to, as text. */
export function renderReport(document: PruneDocument, notes: PruneNotes, view: View): string {
  const { totals } = document;
  const lines = [view.style.bold(`Removed ${plural(totals.removed, "worktree")}, freed ${size(totals.freedBytes)}.`)];
  if (notes.freeSpaceChange !== null) lines.push(...freeSpaceLine(totals.freedBytes, notes.freeSpaceChange));
  for (const clone of document.clones) lines.push(...reportOfClone(clone, notes, view));
  if (notes.unseenProcesses !== null) lines.push("", harmless(notes.unseenProcesses));
  return finish(lines);
}

function finish(lines: readonly string[]): string {
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}

function planOfClone(clone: CloneEntry, view: View): string[] {
  const lines = [...heading(clone, view)];
  if (clone.error !== null) lines.push(`  ${view.style.red("could not be read:")} ${harmless(clone.error)}`);
  const roots = clone.worktrees.filter((entry) => entry.removalRoot === entry.path);
  if (roots.length > 0) {
    lines.push(`  ${view.style.green("goes")}`);
    for (const root of bySize(roots)) lines.push(...goingLines(root, clone, view));
  }
  const staying = bySize(clone.worktrees.filter(({ decision }) => decision === "keep"));
  if (staying.length > 0) {
    lines.push(`  ${view.style.yellow("stays")}`);
    for (const entry of staying) lines.push(...stayingLines(entry, view));
  }
  lines.push(...strayLines(clone.registrationsWithoutDirectory, view), ...skippedLines(clone, view), "");
  return lines;
}

function heading(clone: CloneEntry, view: View): string[] {
  const name = [clone.owner, clone.repo, clone.workspace].filter((part) => part !== null).join("/");
  return [view.style.bold(harmless(name)), `  ${view.style.dim(lastFetch(clone, view))}`];
}

function lastFetch({ bare }: CloneEntry, view: View): string {
  if (bare === null) return "no .bare beside it: judged by the clone's own remote refs, as of its own last fetch";
  if (bare.lastFetch === null) return "last fetch of .bare: never since it was made";
  const date = new Date(bare.lastFetch);
  return `last fetch of .bare: ${ago(date, view.now)} (${bare.lastFetch.slice(0, 16)}Z)`;
}

/** A worktree's name: its place without the worktrees places in it. */
function nameOf(path: string): string {
  return harmless(
    path
      .split(`${WORKTREES_PLACE}/`)
      .filter((part) => part !== "")
      .map((part) => part.replace(/\/$/, ""))
      .join(" › "),
  );
}

function headOf({ head, registration }: WorktreeEntry): string {
  if (head === null) return registration.state === "none" ? "git forgot it" : "";
  const commit = head.commit?.slice(0, 8) ?? "no commit yet";
  return head.branch === null
    ? `detached at ${commit}`
    : `${harmless(head.branch.replace(/^refs\/heads\//, ""))} at ${commit}`;
}

function entryLine(entry: WorktreeEntry, view: View): string {
  const start = `    ${pad(size(entry.bytes, entry.bytesAreFloor), SIZE_WIDTH, "left")}  ${pad(entry.class, CLASS_WIDTH)}  `;
  const name = nameOf(entry.path);
  const head = headOf(entry);
  if (view.width === null) return `${start}${view.style.bold(name)}  ${view.style.dim(head)}`;
  const room = Math.max(12, view.width - displayWidth(start));
  const shownName = shortenMiddle(name, head === "" ? room : Math.max(12, Math.floor(room * 0.6)));
  const left = room - displayWidth(shownName) - 2;
  return `${start}${view.style.bold(shownName)}${left < 8 ? "" : `  ${view.style.dim(shortenMiddle(head, left))}`}`;
}

function goingLines(root: WorktreeEntry, clone: CloneEntry, view: View): string[] {
  const lines = [entryLine(root, view)];
  const nested = clone.worktrees.filter(({ removalRoot, path }) => removalRoot === root.path && path !== root.path);
  for (const entry of [root, ...nested]) {
    if (entry !== root) lines.push(detail(`with ${nameOf(entry.path)} inside it`));
    if (entry.forced) {
      lines.push(detail(view.style.yellow("--force-worktrees carries it past:")));
      for (const reason of entry.reasons) lines.push(...reasonLines(reason, view));
      if (entry.reasons.some(({ code }) => code === "ignored")) lines.push(detail("ignored files are NOT saved"));
    }
  }
  return lines;
}

function stayingLines(entry: WorktreeEntry, view: View): string[] {
  return [
    entryLine(entry, view),
    ...entry.reasons.flatMap((reason) => {
      const advice = adviceFor(reason.code);
      return [...reasonLines(reason, view), ...(advice === "" ? [] : [detail(view.style.dim(`  → ${advice}`))])];
    }),
  ];
}

function reasonLines(reason: ReasonEntry, view: View): string[] {
  const names =
    reason.code === "nested"
      ? []
      : [...reason.paths.map(harmless), ...reason.commits.map((commit) => commit.slice(0, 8))];
  const shown = view.verbose ? names : names.slice(0, NAMED);
  const more = names.length - shown.length;
  const list = shown.length === 0 ? "" : `: ${shown.join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
  const text = `${harmless(reason.detail)}${list}`;
  const room = view.width === null || view.verbose ? null : view.width - INDENT - displayWidth(reason.code) - 2;
  return [
    detail(`${view.style.yellow(reason.code)}: ${room === null ? text : shortenMiddle(text, Math.max(20, room))}`),
  ];
}

const INDENT = SIZE_WIDTH + 6;

function detail(text: string): string {
  return `${" ".repeat(INDENT)}${text}`;
}

function strayLines(strays: readonly StrayRegistrationEntry[], view: View): string[] {
  if (strays.length === 0) return [];
  return [
    `  ${view.style.dim("registrations without a directory")}`,
    ...strays.map(({ id, decision, reasons }) => {
      const why = reasons.map(({ detail: text }) => harmless(text)).join("; ");
      return `    ${pad(decision === "drop" ? "drop" : "keep", SIZE_WIDTH, "left")}  ${harmless(id)}${why === "" ? "" : `: ${why}`}`;
    }),
  ];
}

function skippedLines({ skipped }: CloneEntry, view: View): string[] {
  if (skipped.length === 0) return [];
  if (view.verbose) {
    return [
      "  skipped, never touched",
      ...skipped.map(({ path, code, detail: text }) => `    ${pad(code, 18)}  ${nameOf(path)}: ${harmless(text)}`),
    ];
  }
  const counts = new Map<string, number>();
  for (const { code } of skipped) counts.set(code, (counts.get(code) ?? 0) + 1);
  const list = [...counts].map(([code, count]) => `${count} ${code}`).join(", ");
  return [`  ${view.style.dim(`skipped, never touched: ${list}`)}`];
}

function closing({ clones, totals, mode }: PruneDocument, view: View): string[] {
  const entries = clones.flatMap((clone) => clone.worktrees);
  const staying = totals.worktrees - totals.toRemove;
  const drops = clones
    .flatMap((clone) => clone.registrationsWithoutDirectory)
    .filter(({ decision }) => decision === "drop");
  const stay = staying === 0 ? "" : ` ${plural(staying, "worktree stays", "worktrees stay")}.`;
  const lines: string[] = [];
  if (totals.toRemove === 0 && drops.length === 0) lines.push(view.style.bold(`Nothing to remove.${stay}`));
  else {
    const without = ` without a directory ${drops.length === 1 ? "goes" : "go"}.`;
    const dropping = drops.length === 0 ? "" : ` ${plural(drops.length, "registration")}${without}`;
    const going = `${plural(totals.toRemove, "worktree")} to remove, ${size(totals.toRemoveBytes)} to free.`;
    lines.push(view.style.bold(`${going}${stay}${dropping}`));
  }
  const flags = `${view.flags.force ? " --force-worktrees" : ""}${view.flags.discardIgnored ? " --discard-ignored" : ""}`;
  if (mode === "dry-run" && (totals.toRemove > 0 || drops.length > 0)) {
    lines.push(`Nothing was changed. dl --prune${flags} asks and removes; dl --prune -y${flags} does not ask.`);
  }
  if (!view.flags.force && entries.some(isForceable)) {
    lines.push(
      view.style.dim(
        "--force-worktrees takes what stays only for reasons that it may pass, and saves it first; ignored files it does not save.",
      ),
    );
  }
  return lines;
}

/** Whether `--force-worktrees` may carry a worktree past each of its reasons. */
function isForceable({ decision, reasons }: WorktreeEntry): boolean {
  const passable = ["locked", "uncommitted", "ignored", "in-progress", "unpushed", "could-not-tell"];
  return decision === "keep" && reasons.every(({ code }) => passable.includes(code));
}

function reportOfClone(clone: CloneEntry, notes: PruneNotes, view: View): string[] {
  const lines: string[] = [];
  const outcome = (name: WorktreeEntry["outcome"]): WorktreeEntry[] =>
    bySize(clone.worktrees.filter((entry) => entry.outcome === name));
  for (const entry of outcome("removed").filter(({ removalRoot, path }) => removalRoot === path)) {
    lines.push(
      `    ${pad(size(entry.bytes, entry.bytesAreFloor), SIZE_WIDTH, "left")}  ${view.style.green("removed")}   ${nameOf(entry.path)}`,
    );
  }
  for (const entry of outcome("removed")) {
    const archive = notes.archives.get(`${clone.path}/${entry.path}`);
    if (archive !== undefined) lines.push(detail(`${nameOf(entry.path)} was saved: dl --restore ${archive} --to DIR`));
  }
  for (const entry of outcome("withheld")) {
    lines.push(
      `    ${view.style.yellow(pad("withheld", SIZE_WIDTH, "left"))}  ${nameOf(entry.path)}: it is not as it was when it was planned`,
    );
    for (const reason of entry.reasons) lines.push(...reasonLines(reason, view));
  }
  for (const entry of outcome("failed").filter(({ removalRoot, path }) => removalRoot === path)) {
    lines.push(
      `    ${view.style.red(pad("failed", SIZE_WIDTH, "left"))}  ${nameOf(entry.path)}: ${harmless(entry.error ?? "")}`,
    );
  }
  const notReached = outcome("planned").length;
  if (notReached > 0)
    lines.push(`    ${plural(notReached, "worktree was", "worktrees were")} not reached: they are as they were`);
  lines.push(...metadataLines(clone, view));
  const kept = outcome("kept").length;
  if (kept > 0 && lines.length > 0)
    lines.push(view.style.dim(`    ${plural(kept, "worktree stays", "worktrees stay")}; dl --prune -n says why`));
  return lines.length === 0 ? [] : ["", ...heading(clone, view).slice(0, 1), ...lines];
}

function metadataLines({ metadata }: CloneEntry, view: View): string[] {
  const { action, dropped, heldBackBy, error } = metadata;
  const lines: string[] = [];
  const names = dropped.map(harmless).join(", ");
  switch (action) {
    case "none":
      break;
    case "pruned":
      lines.push(`    registrations pruned: ${names}`);
      break;
    case "held-back":
      lines.push(`    registrations dropped by name: ${names}`);
      if (heldBackBy.length > 0)
        lines.push(
          `    git worktree prune is held back by ${heldBackBy.map(nameOf).join(", ")}: it would drop what stays`,
        );
      break;
  }
  if (error !== null) lines.push(`    ${view.style.red("registrations:")} ${harmless(error)}`);
  return lines;
}

function freeSpaceLine(freed: number, change: number): string[] {
  const differ = Math.abs(freed - change) > Math.max(freed, change) / 10;
  if (!differ) return [`Free space grew by ${size(change)}.`];
  const grew = change >= 0 ? `grew by ${size(change)}` : `shrank by ${size(-change)}`;
  return [
    `Free space ${grew}: other writers, shared extents, or blocks that the file system has not given back yet account for the difference.`,
  ];
}

function bySize<T extends WorktreeEntry>(entries: readonly T[]): T[] {
  return entries.toSorted((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0));
}
