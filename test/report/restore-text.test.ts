import { expect, test } from "vitest";
import { displayWidth } from "../../src/report/plain-text.ts";
import { renderArchives } from "../../src/report/restore-text.ts";
import { archive, place, restore, terminal, view } from "./samples.ts";

test("lists when each was saved, of which worktree, where its HEAD was, how many paths, and its name", () => {
  const archives = [
    archive("half-written"),
    archive("n1", {
      worktree: place("a1", "n1"),
      branch: null,
      commit: null,
      changedPaths: 1,
      repository: "/repos/acme/widget/ws/.git",
    }),
  ];
  expect(renderArchives(restore(archives), view())).toMatchInlineSnapshot(`
    "2026-01-30/ws/half-written
      half-written of acme/widget/ws, saved 1 day ago (2026-01-30T10:00Z)
      on half-written at 67d8218b, 3 changed paths

    2026-01-30/ws/n1
      a1 › n1 of acme/widget/ws, saved 1 day ago (2026-01-30T10:00Z)
      no commit, 1 changed path

    To bring one back: dl --restore NAME --to DIR
    "
  `);
});

test("says what was restored, and where", () => {
  const name = "2026-01-30/ws/a1";
  expect(renderArchives(restore([archive("a1")], { name, to: "/home/me/back" }), view())).toBe(
    "2026-01-30/ws/a1 is restored in /home/me/back\n",
  );
});

test("says that no forced removal has saved anything", () => {
  expect(renderArchives(restore([]), view())).toBe("No forced removal has saved anything.\n");
});

test("fits a terminal, and never shortens a name that is to be copied", () => {
  const text = renderArchives(
    restore([archive("a".repeat(90), { branch: `refs/heads/${"b".repeat(90)}` })]),
    terminal(60),
  );
  expect(text.split("\n").filter((line) => displayWidth(line) > 60)).toEqual([`2026-01-30/ws/${"a".repeat(90)}`]);
});

test("takes no date, and nothing that could steer a terminal, from an archive that a clone wrote", () => {
  const evil = "\u001b[2J\u202e\n";
  const forged = { name: evil, workspace: evil, worktree: evil, branch: evil, commit: evil, createdAt: evil };
  const text = renderArchives(restore([archive("a1", forged)]), view());
  expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}|\p{Cf}/u);
  expect(text).toContain("saved at an unknown time\n");
});
