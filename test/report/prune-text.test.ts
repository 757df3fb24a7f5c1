import { expect, test } from "vitest";
import type { PruneDocument } from "../../src/report/documents.ts";
import { displayWidth } from "../../src/report/plain-text.ts";
import { renderPlan, renderReport } from "../../src/report/prune-text.ts";
import { makeStyle } from "../../src/report/style.ts";
import { clone, COMMIT, NO_NOTES, place, prune, reason, stray, terminal, view, worktree } from "./samples.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const EDITS = reason("uncommitted", "2 paths with uncommitted work", { paths: ["README.md", "notes.md"] });
const UNPUSHED = reason("unpushed", "1 commit on x is in no safe ref", { commits: [COMMIT] });
const IGNORED = reason("ignored", "3 ignored files (1288490188 bytes) that exist nowhere else", { paths: [".env"] });
const LOCKED = reason("locked", "git holds it locked: claude session 7");
const FORGOTTEN = { state: "none", id: null, recordedPath: null, lockReason: null } as const;
const FORCE = { force: true, discardIgnored: false };

function manyWorktrees(): PruneDocument {
  const names = ["fix-login", "refactor-billing-and-split-the-invoice-service", "面白い-実験", "agent-a1b2c3d4e5f6"];
  const long = reason(
    "could-not-tell",
    `uncommitted: fatal: index file corrupt in /home/me/${"deep/".repeat(30)}index`,
  );
  const worktrees = Array.from({ length: 70 }, (_, i) =>
    worktree(place(`${names[i % names.length]}-${i}`), {
      bytes: 512 * (i * 7919 + 1),
      bytesAreFloor: i % 9 === 0,
      reasons: [[], [EDITS], [UNPUSHED, IGNORED], [long]][i % 4] ?? [],
    }),
  );
  return prune([clone(worktrees, { registrationsWithoutDirectory: [stray("gone")] })]);
}

test("says what goes, the biggest first, then what stays by its reasons, what would let it go, and what to do next", () => {
  const document = prune([
    clone(
      [
        worktree(place("small"), { bytes: 36 * KIB, class: "forgotten", head: null, registration: FORGOTTEN }),
        worktree(place("big"), { bytes: 6 * MIB, head: { branch: null, commit: COMMIT } }),
        worktree(place("dirty"), { reasons: [EDITS] }),
        worktree(place("both"), { reasons: [EDITS, UNPUSHED], bytes: 9 * MIB, bytesAreFloor: true }),
        worktree(place("dirty-too"), { reasons: [EDITS], bytes: 5 * MIB }),
        worktree(place("agent"), { reasons: [LOCKED], class: "locked" }),
      ],
      {
        registrationsWithoutDirectory: [stray("by-hand"), stray("kept", { decision: "keep", reasons: [UNPUSHED] })],
        skipped: [
          { path: place("theirs"), code: "other-repository", detail: "it is another's" },
          { path: place("notes"), code: "not-a-worktree", detail: "a plain directory" },
          { path: place("more"), code: "not-a-worktree", detail: "a plain directory" },
        ],
      },
    ),
  ]);
  expect(renderPlan(document, terminal(80))).toMatchInlineSnapshot(`
    "acme/widget/ws
    last fetch of .bare: 2 hours ago (2026-01-31T10:00Z)

      goes: 2 worktrees, 6.04 MiB
           6 MiB  prunable   big        detached 67d8218b
          36 KiB  forgotten  small      git forgot it
      stays, uncommitted + unpushed: 1 worktree
         ≥ 9 MiB  held       both       both
                  uncommitted: 2 paths with uncommitted work: README.md, notes.md
                  unpushed: 1 commit on x is in no safe ref: 67d8218b
      stays, uncommitted: 2 worktrees
           5 MiB  held       dirty-too  dirty-too
                  2 paths with uncommitted work: README.md, notes.md
           4 MiB  held       dirty      dirty
                  2 paths with uncommitted work: README.md, notes.md
      stays, locked: 1 worktree
           4 MiB  locked     agent      agent
                  git holds it locked: claude session 7
      registrations without a directory: 2
            goes  by-hand               by-hand
           stays  kept                  kept
                  1 commit on x is in no safe ref: 67d8218b
      skipped, never touched: 1 other-repository, 2 not-a-worktree

    To let it go:
      uncommitted  commit and push it; or --force-worktrees, which saves it first
      unpushed     push it, and let the bare be fetched; or --force-worktrees, which
                   saves it first
      locked       git -C CLONE worktree unlock NAME; or --force-worktrees

    2 worktrees to remove, 6.04 MiB to free. 4 worktrees stay. 1 registration
    without a directory goes.
    Nothing was changed. To go on:
      dl --prune     asks, then removes
      dl --prune -y  removes without asking
    "
  `);
});

test("says that there is nothing to remove, and proposes nothing", () => {
  expect(renderPlan(prune([]), view())).toBe("Nothing to remove.\n");
  expect(renderPlan(prune([clone([worktree(place("a1"), { reasons: [EDITS] })])]), view())).toMatch(
    /\nNothing to remove\. 1 worktree stays\.\n$/,
  );
});

test("names the next command with the flags of this one, in a dry run alone", () => {
  const document = prune([clone([worktree(place("a1"))])]);
  const flags = { force: true, discardIgnored: true };
  expect(renderPlan(document, view({ flags }))).toContain(
    [
      "With --discard-ignored, ignored files do not hold and are NOT saved.",
      "Nothing was changed. To go on:",
      "  dl --prune --force-worktrees --discard-ignored     asks, then removes",
      "  dl --prune -y --force-worktrees --discard-ignored  removes without asking",
    ].join("\n"),
  );
  expect(renderPlan({ ...document, mode: "acted" }, view())).not.toContain("dl --prune");
});

test.each([
  [{ path: "/b", lastFetch: "2026-01-31T10:00:00.000Z" }, "last fetch of .bare: 2 hours ago (2026-01-31T10:00Z)"],
  [{ path: "/b", lastFetch: null }, "last fetch of .bare: never fetched since it was made"],
  [null, "no .bare beside it: its own remote refs answer for it, as of its own last fetch"],
])("says as of when its answers are: %j", (bare, words) => {
  expect(renderPlan(prune([clone([worktree(place("a1"))], { bare })]), view()).split("\n")[1]).toBe(words);
});

test("shows what is nested as part of its removal root, and counts its bytes once", () => {
  const document = prune([
    clone([
      worktree(place("outer"), { bytes: 8 * MIB }),
      worktree(place("outer", "inner"), { bytes: 3 * MIB, parent: place("outer"), removalRoot: place("outer") }),
    ]),
  ]);
  expect(renderPlan(document, view())).toContain(`
  goes: 2 worktrees, 8 MiB
       8 MiB  prunable   outer          outer
       in it  prunable   outer › inner  inner
`);
});

test("names what holds a worktree from inside as worktrees are named", () => {
  const inside = [place("outer", "a"), place("outer", "b"), place("outer", "c"), place("outer", "d")];
  const nested = reason("nested", `4 entries inside it stay: ${inside.join(", ")}`, { paths: inside });
  expect(renderPlan(prune([clone([worktree(place("outer"), { reasons: [nested] })])]), view())).toContain(
    "4 entries inside it stay: outer › a, outer › b, outer › c, +1 more\n",
  );
});

test("names what a flag forces a worktree past, what is saved first, and what is not", () => {
  const forced = { forced: true, bytes: 2 * MIB };
  const document = prune([
    clone([
      worktree(place("locked"), { ...forced, class: "locked", reasons: [LOCKED] }),
      worktree(place("edits"), { ...forced, reasons: [EDITS, IGNORED] }),
      worktree(place("ignored"), { ...forced, reasons: [IGNORED] }),
    ]),
  ]);
  expect(renderPlan(document, view({ flags: FORCE }))).toMatchInlineSnapshot(`
    "acme/widget/ws
    last fetch of .bare: 2 hours ago (2026-01-31T10:00Z)

      goes: 3 worktrees, 6 MiB
           2 MiB  locked     locked   locked
                  forced past locked: git holds it locked: claude session 7
                  nothing in it needs to be saved
           2 MiB  held       edits    edits
                  forced past uncommitted: 2 paths with uncommitted work: README.md, notes.md
                  forced past ignored: 3 ignored files, 1.2 GiB, that exist nowhere else: .env
                  saved first; ignored files are NOT saved
           2 MiB  held       ignored  ignored
                  forced past ignored: 3 ignored files, 1.2 GiB, that exist nowhere else: .env
                  ignored files are NOT saved

    3 worktrees to remove, 6 MiB to free.
    What is saved first comes back with dl --restore.
    Nothing was changed. To go on:
      dl --prune --force-worktrees     asks, then removes
      dl --prune -y --force-worktrees  removes without asking
    "
  `);
});

test("proposes the flag only for reasons that it passes, and only where it was not given", () => {
  const codes = ["locked", "could-not-tell", "in-use", "live-registration", "mount-point", "embedded-repository"];
  const document = prune([clone(codes.map((code) => worktree(place(code), { reasons: [reason(code, "so")] })))]);
  const proposes = (text: string): string[] =>
    text.split("\n").flatMap((line) => /^ {2}(\S+) .*--force-worktrees/.exec(line)?.[1] ?? []);
  expect(proposes(renderPlan(document, view()))).toEqual(["locked", "could-not-tell"]);
  expect(proposes(renderPlan(document, view({ flags: FORCE })))).toEqual([]);
});

test("names three paths, and all of them where it is verbose", () => {
  const paths = ["a", "b", "c", "d", "e"];
  const document = prune([
    clone([worktree(place("a1"), { reasons: [reason("uncommitted", "5 paths with uncommitted work", { paths })] })]),
  ]);
  expect(renderPlan(document, view())).toContain("5 paths with uncommitted work: a, b, c, +2 more\n");
  expect(renderPlan(document, view({ verbose: true }))).toContain("5 paths with uncommitted work: a, b, c, d, e\n");
});

test("does not count what a reason does not name", () => {
  const paths = Array.from({ length: 100 }, (_, i) => `f${i}`);
  const edits = reason("uncommitted", "5000 paths with uncommitted work", { paths });
  const document = prune([clone([worktree(place("a1"), { reasons: [edits] })])]);
  expect(renderPlan(document, view())).toContain("5000 paths with uncommitted work: f0, f1, f2, and more\n");
});

test("names each entry that was skipped where it is verbose", () => {
  const skipped = [{ path: place("theirs"), code: "symlink", detail: "a link" }] as const;
  expect(renderPlan(prune([clone([], { skipped })]), view({ verbose: true }))).toContain(
    "  skipped, never touched: 1\n    theirs: symlink; a link\n",
  );
});

test("says which clone could not be read, in git's words", () => {
  const text = renderPlan(prune([clone([], { error: "fatal: not a git repository\nhint: none" })]), view());
  expect(text).toContain("could not be read: fatal: not a git repository\\nhint: none\n");
  expect(text).toContain("Nothing to remove. 1 clone could not be read.\n");
});

test("marks a sum of which a part is a floor", () => {
  const document = prune([clone([worktree(place("a1"), { bytesAreFloor: true }), worktree(place("a2"))])]);
  expect(renderPlan(document, view())).toContain("2 worktrees to remove, ≥ 8 MiB to free.");
});

test("lets nothing of a repository's reach the terminal that could steer it", () => {
  const evil = "\u001b[2J\u202e\u009b\n";
  const forged = reason("locked", `git holds it locked: ${evil}`, { paths: [evil], commits: [evil] });
  const document = prune(
    [
      clone(
        [
          worktree(place(`a${evil}`), {
            reasons: [forged, reason("nested", evil)],
            head: { branch: evil, commit: evil },
          }),
          worktree(place(`b${evil}`), { outcome: "failed", error: evil }),
          worktree(place(`c${evil}`), { outcome: "withheld", reasons: [reason("nested", evil)], decision: "remove" }),
          worktree(place(`d${evil}`), { outcome: "removed" }),
        ],
        {
          owner: evil,
          workspace: evil,
          error: evil,
          skipped: [{ path: place(evil), code: "symlink", detail: evil }],
          registrationsWithoutDirectory: [stray(evil, { reasons: [forged] })],
          metadata: { action: "held-back", heldBackBy: [place(evil)], dropped: [evil], error: evil },
        },
      ),
    ],
    "acted",
  );
  const archives = new Map([[`/repos/acme/widget/ws/${place(`d${evil}`)}`, evil]]);
  for (const look of [view(), terminal(80), terminal(80, { verbose: true })]) {
    const text =
      renderPlan(document, look) + renderReport(document, { ...NO_NOTES, archives, unseenProcesses: evil }, look);
    expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}|\p{Cf}/u);
  }
});

test("never says that a worktree is idle, unused or abandoned", () => {
  const text = renderPlan(manyWorktrees(), view({ verbose: true }));
  expect(text).not.toMatch(/idle|unused|abandon|stale|no longer (needed|used)|nobody/i);
});

test.each([60, 80, 160])("fits a terminal of %i columns", (width) => {
  for (const look of [terminal(width), terminal(width, { style: makeStyle(true) })]) {
    const document = manyWorktrees();
    const text = renderPlan(document, look) + renderReport({ ...document, mode: "acted" }, NO_NOTES, look);
    expect(text.split("\n").filter((line) => displayWidth(line) > width)).toEqual([]);
  }
});

test("is the same with colour and without but for the colour, and ends no line in a blank", () => {
  const colour = renderPlan(manyWorktrees(), terminal(80, { style: makeStyle(true) }));
  const plain = renderPlan(manyWorktrees(), terminal(80));
  expect(colour).toContain("\u001b[");
  expect(plain.split("\n").filter((line) => line.endsWith(" "))).toEqual([]);
  const stripped = colour.replaceAll(/\u001b\[\d+m/g, "");
  expect(stripped.split("\n").map((line) => line.trimEnd())).toEqual(plain.split("\n"));
});

test("shortens nothing for a pipe", () => {
  const name = "x".repeat(200);
  const document = prune([
    clone([worktree(place(name)), worktree(place("a1"), { reasons: [reason("locked", `by ${name}`)] })]),
  ]);
  const text = renderPlan(document, view());
  expect(text).not.toContain("…");
  expect(text.split(name).length).toBe(4);
});

test("reports what was removed, withheld, failed and not reached, and how each archive comes back", () => {
  const forced = { forced: true, reasons: [EDITS], outcome: "removed" } as const;
  const document = prune(
    [
      clone(
        [
          worktree(place("a1"), { outcome: "removed", bytes: 6 * MIB }),
          worktree(place("half"), { ...forced }),
          worktree(place("half", "n1"), { ...forced, parent: place("half"), removalRoot: place("half") }),
          worktree(place("b1"), {
            class: "held",
            reasons: [EDITS],
            decision: "remove",
            removalRoot: place("b1"),
            outcome: "withheld",
          }),
          worktree(place("c1"), { outcome: "failed", error: "EACCES: permission denied" }),
          worktree(place("d1"), { outcome: "planned" }),
          worktree(place("e1"), { reasons: [LOCKED], class: "locked" }),
        ],
        {
          metadata: {
            action: "held-back",
            heldBackBy: [place("b1")],
            dropped: ["a1", "half"],
            error: "EROFS: read-only",
          },
          registrationsWithoutDirectory: [
            stray("s1", { outcome: "dropped" }),
            stray("s2", { outcome: "failed" }),
            stray("s3", { outcome: "kept" }),
          ],
        },
      ),
    ],
    "acted",
  );
  const archives = new Map([
    [`/repos/acme/widget/ws/${place("half")}`, "2026-01-31/ws/half"],
    [`/repos/acme/widget/ws/${place("half", "n1")}`, "2026-01-31/ws/n1"],
  ]);
  const notes = { archives, unseenProcesses: "2 processes could not be looked at", freeSpaceChange: 10 * MIB };
  expect(renderReport(document, notes, terminal(80))).toMatchInlineSnapshot(`
    "
    acme/widget/ws
           6 MiB  removed    a1         a1
           4 MiB  removed    half       half
                  saved: dl --restore 2026-01-31/ws/half --to DIR
                  half › n1 saved: dl --restore 2026-01-31/ws/n1 --to DIR
        withheld  b1: it is not as it was when it was planned
                  2 paths with uncommitted work: README.md, notes.md
          failed  c1: EACCES: permission denied
        not done  d1: the pass ended before its turn
        registrations dropped by name: a1, half
        git worktree prune is held back by b1: it would drop a registration that
        stays
        registration s2 could not be dropped
        registration s3 was not dropped
        registrations: EROFS: read-only

    2 processes could not be looked at

    Removed 3 worktrees, freed 10 MiB. 1 withheld, 1 failed, 1 not reached, 1 stays
    (dl --prune -n says why).
    Free space grew by 10 MiB.
    "
  `);
});

test("reports a pass that ran git worktree prune, and one that removed nothing", () => {
  const metadata = { action: "pruned", heldBackBy: [], dropped: ["a1"], error: null } as const;
  const document = prune(
    [clone([], { metadata, registrationsWithoutDirectory: [stray("a1", { outcome: "dropped" })] })],
    "acted",
  );
  expect(renderReport(document, { ...NO_NOTES, freeSpaceChange: 5 * MIB }, view())).toBe(
    "\nacme/widget/ws\n    registrations pruned: a1\n\nNo worktree was removed.\n",
  );
});

test("reports a clone that could not be read", () => {
  expect(renderReport(prune([clone([], { error: "fatal: no" })], "acted"), NO_NOTES, view())).toContain(
    "could not be read: fatal: no\n",
  );
});

test("says of a withheld worktree what changed inside it", () => {
  const nested = reason("nested", `${place("a1", "new")}: it appeared after the plan`, { paths: [place("a1", "new")] });
  const withheld = worktree(place("a1"), {
    reasons: [nested],
    decision: "remove",
    removalRoot: place("a1"),
    outcome: "withheld",
  });
  expect(renderReport(prune([clone([withheld])], "acted"), NO_NOTES, view())).toContain(
    "    withheld  a1: it is not as it was when it was planned\n              a1 › new: it appeared after the plan\n",
  );
});

test.each([
  [100 * MIB, /^Free space grew by 100 MiB\.$/],
  [91 * MIB, /^Free space grew by 91 MiB\.$/],
  [89 * MIB, /^Free space grew by 89 MiB: others .* may account for the difference\.$/],
  [200 * MIB, /^Free space grew by 200 MiB: others .* may account for the difference\.$/],
  [-5 * MIB, /^Free space shrank by 5 MiB: others .* may account for the difference\.$/],
])("sets the change of free space (%i) beside what was freed", (freeSpaceChange, words) => {
  const removed = worktree(place("a1"), { outcome: "removed", bytes: 100 * MIB });
  const text = renderReport(prune([clone([removed])], "acted"), { ...NO_NOTES, freeSpaceChange }, view());
  const last = text.trimEnd().split("\n").at(-1);
  expect(last).toMatch(words);
});

test("quotes the name of an archive that a shell would read as more than a name", () => {
  const removed = worktree(place("a;reboot"), { outcome: "removed" });
  const archives = new Map([[`/repos/acme/widget/ws/${place("a;reboot")}`, "2026-01-31/ws/a;reboot"]]);
  expect(renderReport(prune([clone([removed])], "acted"), { ...NO_NOTES, archives }, view())).toContain(
    "saved: dl --restore '2026-01-31/ws/a;reboot' --to DIR\n",
  );
});
