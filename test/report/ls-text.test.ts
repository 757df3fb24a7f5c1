import { expect, test } from "vitest";
import type { LsWorktreeEntry, LsWorktreeNote } from "../../src/report/documents.ts";
import { renderLs } from "../../src/report/ls-text.ts";
import { displayWidth } from "../../src/report/plain-text.ts";
import { makeStyle } from "../../src/report/style.ts";
import { ls, lsClone, place, reason, terminal, view } from "./samples.ts";

const GIB = 1024 ** 3;
const EDITS = reason("uncommitted", "2 paths with uncommitted work");

function entry(name: string, more: Partial<LsWorktreeEntry> = {}): LsWorktreeEntry {
  return { path: place(name), class: "prunable", bytes: null, bytesAreFloor: false, ...more };
}

function disk(bytes: number, isFloor = false): { bytes: number; isFloor: boolean; unreadable: number } {
  return { bytes, isFloor, unreadable: isFloor ? 1 : 0 };
}

const SIZED = ls(
  [
    lsClone({
      worktreeCount: 12,
      disk: disk(32 * GIB),
      worktreesDisk: disk(24 * GIB),
      worktrees: [
        entry("fix-login", { bytes: 20 * GIB }),
        entry("agent", { class: "locked", bytes: 4 * GIB, bytesAreFloor: true }),
      ],
    }),
    lsClone({
      path: "/repos/group/team/engine/engine-main",
      owner: "group/team",
      repo: "engine",
      workspace: "engine-main",
      branch: null,
      bare: null,
      worktreeCount: 1,
      disk: disk(2 * GIB, true),
      worktreesDisk: disk(1024),
      worktrees: [entry("面白い", { class: "held", bytes: 1024 })],
      error: "fatal: no",
    }),
  ],
  true,
);

const NOTES: ReadonlyMap<string, LsWorktreeNote> = new Map([
  [
    `/repos/acme/widget/ws/${place("fix-login")}`,
    { branch: "fix-login", committedAt: new Date("2026-01-29T12:00:00Z"), reason: null },
  ],
  [`/repos/group/team/engine/engine-main/${place("面白い")}`, { branch: null, committedAt: null, reason: EDITS }],
]);

test("lists clones without sizes", () => {
  const bare = { path: "/b", lastFetch: null };
  const clones = [
    lsClone({ worktreeCount: 3 }),
    lsClone({ workspace: "other", branch: null, bare, worktreeCount: 12 }),
  ];
  expect(renderLs(ls(clones), new Map(), view())).toMatchInlineSnapshot(`
    "CLONE              BRANCH    LAST FETCH   WORKTREES
    acme/widget/ws     main      2 hours ago  3
    acme/widget/other  detached  never        12
    2 clones                                  15
    "
  `);
});

test("lists what clones weigh, the worktrees' share of it, and a line a worktree", () => {
  expect(renderLs(SIZED, NOTES, terminal(80))).toMatchInlineSnapshot(`
    "CLONE                         BRANCH  LAST FETCH       SIZE  WORKTREES
    acme/widget/ws                main    2 hours ago    32 GiB  12  ▇▇▇▇▇▇·· 24 GiB
      fix-login   20 GiB  prunable  fix-login  2 days ago
      agent      ≥ 4 GiB  locked    -          -
    group/team/eng…e/engine-main  ?       no .bare      ≥ 2 GiB   1  ▇·······  1 KiB
      could not be read: fatal: no
      面白い       1 KiB  held      -          -           uncommitted
    2 clones                                           ≥ 34 GiB  13           24 GiB
    "
  `);
});

test("tells the first reason in its words where there is room", () => {
  const text = renderLs(SIZED, NOTES, terminal(160));
  expect(text).toContain("uncommitted: 2 paths with uncommitted work\n");
});

test("says that there are no clones", () => {
  expect(renderLs(ls([]), new Map(), view())).toBe("No clones.\n");
});

test("shows as unknown what could not be measured", () => {
  expect(renderLs(ls([lsClone({ error: "EACCES: permission denied" })], true), new Map(), view()))
    .toMatchInlineSnapshot(`
    "CLONE           BRANCH  LAST FETCH    SIZE  WORKTREES
    acme/widget/ws  main    2 hours ago      ?  0               ?
      could not be read: EACCES: permission denied
    1 clone                              ≥ 0 B  0           ≥ 0 B
    "
  `);
});

test("names a nested worktree by its way", () => {
  const nested = entry("x", { path: place("outer", "inner") });
  expect(renderLs(ls([lsClone({ worktrees: [nested] })]), new Map(), view())).toContain("\n  outer › inner  prunable");
});

test.each([60, 80, 120, 160])("fits a terminal of %i columns, and shortens names in the middle", (width) => {
  const long = `refactor-billing-and-split-${"面白い".repeat(9)}`;
  const worktrees = [entry(long, { class: "held", bytes: GIB }), entry("b", { bytes: GIB })];
  const document = ls(
    [
      lsClone({
        owner: long,
        branch: long,
        disk: disk(9 * GIB, true),
        worktreesDisk: disk(GIB),
        worktrees,
        worktreeCount: 2,
      }),
    ],
    true,
  );
  const notes = new Map([
    [`/repos/acme/widget/ws/${place(long)}`, { branch: long, committedAt: new Date(0), reason: EDITS }],
  ]);
  for (const style of [makeStyle(false), makeStyle(true)]) {
    const text = renderLs(document, notes, terminal(width, { style }));
    expect(text.split("\n").filter((line) => displayWidth(line) > width)).toEqual([]);
    expect(text).toContain("…");
  }
  expect(renderLs(document, notes, view()).split(long).length).toBe(5);
});

test("lets nothing of a repository's reach the terminal that could steer it", () => {
  const evil = "\u001b[2J\u202e\n";
  const clones = [lsClone({ owner: evil, branch: evil, error: evil, worktrees: [entry(evil)] })];
  const note = { branch: evil, committedAt: null, reason: reason("locked", evil) };
  const text = renderLs(ls(clones), new Map([[`/repos/acme/widget/ws/${place(evil)}`, note]]), view());
  expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}|\p{Cf}/u);
});

test("ends no line in a blank", () => {
  expect(
    renderLs(SIZED, NOTES, terminal(100))
      .split("\n")
      .filter((line) => line.endsWith(" ")),
  ).toEqual([]);
});
