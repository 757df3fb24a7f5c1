import {
  isPassedByForce,
  mustBeArchived,
  reason as makeReason,
  type Reason,
  type ReasonCode,
} from "../classify/reason.ts";
import { MAX_NAMED } from "../model/evidence.ts";
import { adviceFor } from "./advice.ts";
import type {
  CloneEntry,
  HeadEntry,
  PruneDocument,
  PruneNotes,
  ReasonEntry,
  StrayRegistrationEntry,
  WorktreeEntry,
} from "./documents.ts";
import {
  ago,
  harmless,
  nameOf,
  pad,
  plural,
  reasonWords,
  shellWord,
  shortenMiddle,
  size,
  widest,
  wrap,
} from "./plain-text.ts";
import type { View } from "./view.ts";

/** How many paths or commits of a reason are named; all of them with --verbose. */
const NAMED = 3;
const CLASS_WIDTH = 9;
/** A name or a path among others takes no more of a line than this, on a terminal. */
const NAME_LIMIT = 40;

/** The view, and the columns that are the same for every clone of a document. */
interface Page {
  readonly view: View;
  /** Of the column that holds sizes, or what became of a worktree. */
  readonly figures: number;
  readonly names: number;
  /** Where what belongs to a line above it begins. */
  readonly indent: number;
}

/** Returns the plan as text: of each clone what goes, the biggest first, then what stays by reason, and at the end what would let it go. */
export function renderPlan(document: PruneDocument, view: View): string {
  const page = pageOf(document, view);
  return finish([
    ...document.clones.flatMap((clone) => planOfClone(clone, page)),
    ...legend(document, page),
    ...closing(document, view),
  ]);
}

/** Returns what an acting pass came to, as text: clone by clone, and the sum of it at the end. */
export function renderReport(document: PruneDocument, notes: PruneNotes, view: View): string {
  const page = pageOf(document, view);
  // It stands below the plan, or below the question.
  return finish([
    "",
    ...document.clones.flatMap((clone) => reportOfClone(clone, notes, page)),
    ...(notes.unseenProcesses === null ? [] : [...wrap(harmless(notes.unseenProcesses), view.width), ""]),
    ...summary(document, view),
    ...freeSpaceLines(document, notes, view),
  ]);
}

function finish(lines: readonly string[]): string {
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}

function pageOf({ clones }: PruneDocument, view: View): Page {
  const worktrees = clones.flatMap((clone) => clone.worktrees);
  const figures = Math.max("withheld".length, widest(worktrees.map(sizeOf)));
  const room = (view.width ?? Number.POSITIVE_INFINITY) - figures - CLASS_WIDTH - "      ".length - "  ".length;
  const heads = widest(worktrees.map(headOf));
  const limit = view.width === null ? NAME_LIMIT : Math.max(12, Math.floor(room * 0.6), room - heads - 2);
  const names = Math.min(limit, widest(worktrees.map(({ path }) => nameOf(path))));
  return { view, figures, names, indent: figures + "      ".length };
}

function planOfClone(clone: CloneEntry, page: Page): string[] {
  const { style } = page.view;
  const lines: string[] = [];
  const roots = bySize(clone.worktrees.filter(({ removalRoot, path }) => removalRoot === path));
  if (roots.length > 0) {
    const going = clone.worktrees.filter(({ decision }) => decision === "remove").length;
    lines.push(`  ${style.green("goes:")} ${plural(going, "worktree")}, ${size(sumOf(roots), roots.some(isFloor))}`);
    for (const root of roots) lines.push(...goingLines(root, clone, page));
  }
  for (const [codes, entries] of byReasons(clone)) {
    lines.push(`  ${style.yellow(`stays, ${codes}:`)} ${plural(entries.length, "worktree")}`);
    for (const entry of entries) lines.push(...stayingLines(entry, page));
  }
  lines.push(...strayLines(clone.registrationsWithoutDirectory, page), ...skippedLines(clone, page));
  return [...heading(clone, page.view), ...(lines.length === 0 ? [] : ["", ...lines]), ""];
}

function heading(clone: CloneEntry, view: View): string[] {
  const lines = [
    view.style.bold(fit(cloneName(clone), view)),
    ...wrap(harmless(lastFetch(clone, view)), view.width).map(view.style.dim),
  ];
  if (clone.error === null) return lines;
  const words = wrap(`could not be read: ${harmless(clone.error)}`, view.width);
  return [...lines, ...words.map(view.style.red)];
}

function cloneName({ owner, repo, workspace }: CloneEntry): string {
  return harmless([owner, repo, workspace].filter((part) => part !== null).join("/"));
}

function lastFetch({ bare }: CloneEntry, view: View): string {
  if (bare === null) return "no .bare beside it: its own remote refs answer for it, as of its own last fetch";
  if (bare.lastFetch === null) return "last fetch of .bare: never fetched since it was made";
  return `last fetch of .bare: ${ago(new Date(bare.lastFetch), view.now)} (${bare.lastFetch.slice(0, 16)}Z)`;
}

function goingLines(root: WorktreeEntry, clone: CloneEntry, page: Page): string[] {
  const inside = clone.worktrees.filter(({ removalRoot, path }) => removalRoot === root.path && path !== root.path);
  return [root, ...inside].flatMap((entry) => [
    // What is nested weighs nothing of its own here: its bytes are those of its removal root.
    entryLine(entry, entry === root ? sizeOf(entry) : "in it", page),
    ...(entry.forced ? forcedLines(entry, page) : []),
  ]);
}

/** What the flag carries a worktree past, and what is saved of it before (SPEC §6.10). */
function forcedLines(entry: WorktreeEntry, page: Page): string[] {
  const { reasons } = entry;
  const isSaved = isSavedFirst(entry);
  const losesIgnored = isSaved || reasons.some(({ code }) => code === "ignored");
  const facts = [...(isSaved ? ["saved first"] : []), ...(losesIgnored ? ["ignored files are NOT saved"] : [])];
  return [
    ...reasons.flatMap((reason) => {
      const lead = `forced past ${reason.code}:`;
      return detail(`${lead} ${sentence(reason, page)}`, page, [lead, page.view.style.yellow]);
    }),
    ...detail(facts.join("; ") || "nothing in it needs to be saved", page),
  ];
}

function isSavedFirst({ forced, reasons }: WorktreeEntry): boolean {
  return forced && reasons.some(({ code }) => mustBeArchived(reasonOf(code)));
}

/** What stays in groups of the same reasons, the group with the biggest worktree first, and the biggest first in each. */
function byReasons(clone: CloneEntry): [codes: string, entries: WorktreeEntry[]][] {
  const groups = new Map<string, WorktreeEntry[]>();
  for (const entry of bySize(clone.worktrees.filter(({ decision }) => decision === "keep"))) {
    const codes = [...new Set(entry.reasons.map(({ code }) => code))].join(" + ");
    groups.set(codes, [...(groups.get(codes) ?? []), entry]);
  }
  return [...groups];
}

function stayingLines(entry: WorktreeEntry, page: Page): string[] {
  return [entryLine(entry, sizeOf(entry), page), ...reasonsOf(entry, page)];
}

/** A sentence a reason; its code stands before it where there is more than one. */
function reasonsOf({ reasons, outcome }: WorktreeEntry, page: Page): string[] {
  return reasons.flatMap((reason) => {
    // What changed inside after the plan is in the words, and what stays inside is in the paths.
    const text = reason.code === "nested" && outcome === "withheld" ? reasonWords(reason) : sentence(reason, page);
    return reasons.length === 1
      ? detail(text, page)
      : detail(`${reason.code}: ${text}`, page, [`${reason.code}:`, page.view.style.yellow]);
  });
}

function strayLines(strays: readonly StrayRegistrationEntry[], page: Page): string[] {
  if (strays.length === 0) return [];
  const { style } = page.view;
  return [
    `  ${style.dim("registrations without a directory:")} ${strays.length}`,
    ...strays.flatMap((stray) => [
      `    ${pad(stray.decision === "drop" ? "goes" : "stays", page.figures, "left")}  ${columns(harmless(stray.id), stray.head === null ? "" : headText(stray.head), page, CLASS_WIDTH + 2)}`,
      ...stray.reasons.flatMap((reason) => detail(sentence(reason, page), page)),
    ]),
  ];
}

function skippedLines({ skipped }: CloneEntry, page: Page): string[] {
  if (skipped.length === 0) return [];
  const { view } = page;
  if (view.verbose) {
    return [
      `  ${view.style.dim("skipped, never touched:")} ${skipped.length}`,
      ...skipped.flatMap(({ path, code, detail: words }) =>
        indented(`${nameOf(path)}: ${code}; ${harmless(words)}`, "    ", view),
      ),
    ];
  }
  const counts = new Map<string, number>();
  for (const { code } of skipped) counts.set(code, (counts.get(code) ?? 0) + 1);
  const numbers = [...counts].map(([code, count]) => `${count} ${code}`).join(", ");
  return indented(`skipped, never touched: ${numbers}`, "  ", view).map(view.style.dim);
}

/** What would let go what stays, once for each reason that holds something in this plan. */
function legend({ clones }: PruneDocument, { view }: Page): string[] {
  const held = clones.flatMap((clone) => [
    ...clone.worktrees.filter(({ decision }) => decision === "keep"),
    ...clone.registrationsWithoutDirectory.filter(({ decision }) => decision === "keep"),
  ]);
  const codes = [...new Set(held.flatMap(({ reasons }) => reasons.map(({ code }) => code)))];
  if (codes.length === 0) return [];
  const column = Math.max(...codes.map((code) => code.length)) + 4;
  return [
    "To let it go:",
    ...codes.flatMap((code) => {
      const [first = "", ...more] = wrap(hint(code, view), view.width === null ? null : view.width - column);
      return [
        `  ${view.style.yellow(pad(code, column - 2))}${first}`,
        ...more.map((line) => `${" ".repeat(column)}${line}`),
      ];
    }),
    "",
  ];
}

function hint(code: string, { flags }: View): string {
  const advice = code === "locked" ? "git -C CLONE worktree unlock NAME" : adviceFor(code);
  if (flags.force || !isPassedByForce(reasonOf(code))) return advice;
  const saved = mustBeArchived(reasonOf(code)) ? ", which saves it first" : "";
  const unless = code === "ignored" ? ", which does NOT save it" : saved;
  return `${advice}; or --force-worktrees${code === "could-not-tell" ? " where what is there can be saved" : unless}`;
}

function closing({ clones, totals, mode }: PruneDocument, view: View): string[] {
  const roots = clones.flatMap((clone) => clone.worktrees.filter(({ removalRoot, path }) => removalRoot === path));
  const drops = clones.flatMap(({ registrationsWithoutDirectory }) =>
    registrationsWithoutDirectory.filter(({ decision }) => decision === "drop"),
  ).length;
  const hasWork = totals.toRemove > 0 || drops > 0;
  const errors = clones.filter(({ error }) => error !== null).length;
  const facts = [
    hasWork
      ? `${plural(totals.toRemove, "worktree")} to remove, ${size(totals.toRemoveBytes, roots.some(isFloor))} to free.`
      : "Nothing to remove.",
    ...said(totals.worktrees - totals.toRemove, "worktree stays.", "worktrees stay."),
    ...said(drops, "registration without a directory goes.", "registrations without a directory go."),
    ...said(errors, "clone could not be read.", "clones could not be read."),
  ];
  const lines = wrap(facts.join(" "), view.width).map(view.style.bold);
  if (!hasWork) return lines;
  const flags = `${view.flags.force ? " --force-worktrees" : ""}${view.flags.discardIgnored ? " --discard-ignored" : ""}`;
  if (view.flags.discardIgnored && totals.toRemove > 0)
    lines.push(...wrap("With --discard-ignored, ignored files do not hold and are NOT saved.", view.width));
  if (clones.some(({ worktrees }) => worktrees.some(isSavedFirst)))
    lines.push(...wrap("What is saved first comes back with dl --restore.", view.width));
  if (mode === "dry-run") {
    const [ask, act] = [`dl --prune${flags}`, `dl --prune -y${flags}`];
    lines.push("Nothing was changed. To go on:");
    lines.push(`  ${view.style.cyan(pad(ask, act.length))}  asks, then removes`);
    lines.push(`  ${view.style.cyan(act)}  removes without asking`);
  }
  return lines;
}

function reportOfClone(clone: CloneEntry, notes: PruneNotes, page: Page): string[] {
  const { view } = page;
  const { style } = view;
  const of = (outcome: WorktreeEntry["outcome"]): WorktreeEntry[] =>
    bySize(clone.worktrees.filter((entry) => entry.outcome === outcome));
  const isRoot = ({ removalRoot, path }: WorktreeEntry): boolean => removalRoot === path;
  const became = (word: string, text: string): string[] => indentedAfter(word, text, page);
  const lines = [
    ...of("removed")
      .filter(isRoot)
      .flatMap((entry) => [
        entryLine(entry, sizeOf(entry), page, ["removed", style.green]),
        ...savedLines(entry, clone, notes, page),
      ]),
    ...of("withheld").flatMap((entry) => [
      ...became(style.yellow("withheld"), `${nameOf(entry.path)}: it is not as it was when it was planned`),
      ...reasonsOf(entry, page),
    ]),
    ...of("failed")
      .filter(isRoot)
      .flatMap((entry) => [
        ...became(style.red("failed"), `${nameOf(entry.path)}: ${harmless(entry.error ?? "no words")}`),
        ...savedLines(entry, clone, notes, page),
      ]),
    ...of("planned")
      .filter(isRoot)
      .flatMap((entry) => became("not done", `${nameOf(entry.path)}: the pass ended before its turn`)),
    ...metadataLines(clone, page),
  ];
  if (clone.error !== null) return [...heading(clone, view), ...lines, ""];
  return lines.length === 0 ? [] : [view.style.bold(fit(cloneName(clone), view)), ...lines, ""];
}

/** The archives of a removal root and of all that is in it. A command is copied: it is never shortened or broken. */
function savedLines(root: WorktreeEntry, clone: CloneEntry, notes: PruneNotes, { view, indent }: Page): string[] {
  return clone.worktrees
    .filter(({ removalRoot }) => removalRoot === root.path)
    .flatMap(({ path }) => {
      const archive = notes.archives.get(`${clone.path}/${path}`);
      if (archive === undefined) return [];
      const whose = path === root.path ? "saved: " : `${nameOf(path)} saved: `;
      return [`${" ".repeat(indent)}${whose}${view.style.cyan(`dl --restore ${shellWord(archive)} --to DIR`)}`];
    });
}

function metadataLines({ metadata, registrationsWithoutDirectory }: CloneEntry, { view }: Page): string[] {
  const { action, dropped, heldBackBy, error } = metadata;
  const names = dropped.length === 0 ? "none" : dropped.map(harmless).join(", ");
  const undone = registrationsWithoutDirectory.filter(
    ({ decision, outcome }) => decision === "drop" && outcome !== "dropped",
  );
  const lines: string[] = [];
  switch (action) {
    case "none":
      break;
    case "pruned":
      lines.push(`registrations pruned: ${names}`);
      break;
    case "held-back":
      lines.push(`registrations dropped by name: ${names}`);
      if (heldBackBy.length > 0)
        lines.push(
          `git worktree prune is held back by ${heldBackBy.map(nameOf).join(", ")}: it would drop a registration that stays`,
        );
      break;
  }
  for (const { id, outcome } of undone)
    lines.push(`registration ${harmless(id)} ${outcome === "failed" ? "could not be dropped" : "was not dropped"}`);
  return [
    ...lines.flatMap((line) => indented(line, "    ", view)),
    ...(error === null ? [] : indented(`registrations: ${harmless(error)}`, "    ", view).map(view.style.red)),
  ];
}

function summary({ clones, totals }: PruneDocument, view: View): string[] {
  const errors = clones.filter(({ error }) => error !== null).length;
  const of = (outcome: WorktreeEntry["outcome"]): number =>
    clones.reduce((sum, { worktrees }) => sum + worktrees.filter((entry) => entry.outcome === outcome).length, 0);
  const others = [
    ...(totals.withheld === 0 ? [] : [`${totals.withheld} withheld`]),
    ...(totals.failed === 0 ? [] : [`${totals.failed} failed`]),
    ...(of("planned") === 0 ? [] : [`${of("planned")} not reached`]),
    ...(of("kept") === 0 ? [] : [`${plural(of("kept"), "stays", "stay")} (dl --prune -n says why)`]),
    ...said(errors, "clone could not be read", "clones could not be read"),
  ];
  const removed =
    totals.removed === 0
      ? "No worktree was removed."
      : `Removed ${plural(totals.removed, "worktree")}, freed ${size(totals.freedBytes)}.`;
  const rest = others.length === 0 ? "" : ` ${others.join(", ")}.`;
  return wrap(`${removed}${rest}`, view.width).map(view.style.bold);
}

/** The change of free space beside what was freed by measure, with a word where they differ by more than a tenth. */
function freeSpaceLines({ totals }: PruneDocument, { freeSpaceChange: change }: PruneNotes, view: View): string[] {
  if (change === null || totals.removed === 0) return [];
  const moved = change >= 0 ? `grew by ${size(change)}` : `shrank by ${size(-change)}`;
  const differ = Math.abs(totals.freedBytes - change) > Math.max(totals.freedBytes, change) / 10;
  const word = differ
    ? ": others that wrote or freed meanwhile, extents shared with other files, or space still to be given back may account for the difference"
    : "";
  return wrap(`Free space ${moved}${word}.`, view.width);
}

function sizeOf({ bytes, bytesAreFloor }: WorktreeEntry): string {
  return size(bytes, bytesAreFloor);
}

function isFloor({ bytes, bytesAreFloor }: WorktreeEntry): boolean {
  return bytes === null || bytesAreFloor;
}

function sumOf(entries: readonly WorktreeEntry[]): number {
  return entries.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
}

function headOf({ head, registration }: WorktreeEntry): string {
  if (head === null) return registration.state === "none" ? "git forgot it" : "";
  return headText(head);
}

function headText({ branch, commit }: HeadEntry): string {
  if (branch !== null)
    return harmless(branch.replace(/^refs\/heads\//, "")) + (commit === null ? ", no commit yet" : "");
  return commit === null ? "HEAD not readable" : `detached ${commit.slice(0, 8)}`;
}

/** One line a worktree: a figure, its class (or what became of it), its name, and where its HEAD is. */
function entryLine(
  entry: WorktreeEntry,
  figure: string,
  page: Page,
  [word, style]: [string, (text: string) => string] = [entry.class, (text) => text],
): string {
  const start = `    ${pad(figure, page.figures, "left")}  ${style(word)}${" ".repeat(CLASS_WIDTH - word.length)}  `;
  return start + columns(nameOf(entry.path), headOf(entry), page, 0);
}

/** A name and what stands beside it, in the room of a line; `more` columns are free where no class stands before the name. */
function columns(name: string, head: string, { view, names, indent }: Page, more: number): string {
  const width = names + more;
  if (view.width === null) return `${view.style.bold(pad(name, width))}  ${view.style.dim(head)}`;
  const room = view.width - indent - CLASS_WIDTH - "  ".length + more - width - "  ".length;
  const beside = room < 8 ? "" : `  ${view.style.dim(shortenMiddle(head, room))}`;
  return view.style.bold(pad(shortenMiddle(name, width), width)) + beside;
}

function sentence(reason: ReasonEntry, { view }: Page): string {
  // What is inside is named as worktrees are, and once.
  if (reason.code === "nested" && reason.paths.length > 0) {
    const stay = plural(reason.paths.length, "entry inside it stays", "entries inside it stay");
    return `${stay}: ${list(reason.paths.map(nameOf), view)}`;
  }
  const words = reasonWords(reason);
  const names = [...reason.paths.map(harmless), ...reason.commits.map((commit) => harmless(commit.slice(0, 8)))];
  return names.length === 0 ? words : `${words}: ${list(names, view)}`;
}

function list(names: readonly string[], view: View): string {
  const shown = view.verbose ? names : names.slice(0, NAMED);
  const fitted = shown.map((name) => (view.width === null || view.verbose ? name : shortenMiddle(name, NAME_LIMIT)));
  // A reason names no more than MAX_NAMED: how many there are is in its sentence.
  const isCut = names.length >= MAX_NAMED;
  const more = names.length - shown.length;
  const rest = isCut ? ", and more" : more > 0 ? `, +${more} more` : "";
  return `${fitted.join(", ")}${rest}`;
}

/** Lines below an entry, broken where the terminal ends; `lead` is how the text begins, and its style. */
function detail(text: string, { view, indent }: Page, lead?: [string, (text: string) => string]): string[] {
  const lines = indented(text, " ".repeat(indent), view);
  if (lead === undefined) return lines;
  const [words, style] = lead;
  return lines.map((line, i) => (i === 0 ? line.replace(words, () => style(words)) : line));
}

function indented(text: string, blanks: string, view: View): string[] {
  const room = view.width === null ? null : Math.max(20, view.width - blanks.length);
  return wrap(text, room, view.verbose ? "whole" : "shortened").map((line) => blanks + line);
}

/** A text beside a word in the column of figures. */
function indentedAfter(word: string, text: string, page: Page): string[] {
  const [first = "", ...more] = detail(text, page);
  return [`    ${pad(word, page.figures, "left")}  ${first.trimStart()}`, ...more];
}

function said(count: number, one: string, many: string): string[] {
  return count === 0 ? [] : [plural(count, one, many)];
}

function fit(text: string, { width }: View): string {
  return width === null ? text : shortenMiddle(text, width);
}

/** A reason of a code, with nothing else known of it: what holds for every one. */
function reasonOf(code: string): Reason {
  return makeReason(code as ReasonCode, "");
}

function bySize(entries: readonly WorktreeEntry[]): WorktreeEntry[] {
  return entries.toSorted((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0));
}
