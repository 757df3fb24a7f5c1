import { expect, test } from "vitest";
import { parseGitfile } from "../../src/git/gitfile.ts";

test.each([
  ["a container's path", "gitdir: /workspaces/ws/.git/worktrees/a1\n", "/workspaces/ws", "a1"],
  ["a host's path", "gitdir: /repos/o/r/ws/.git/worktrees/a1", "/repos/o/r/ws", "a1"],
  ["a relative path", "gitdir: ../../../.git/worktrees/a1\n", "../../..", "a1"],
  ["line ends of another system", "gitdir: /ws/.git/worktrees/a1\r\n", "/ws", "a1"],
  ["several line breaks at its end", "gitdir: /ws/.git/worktrees/a1\n\n", "/ws", "a1"],
  ["spaces in the path", "gitdir: /my ws/.git/worktrees/a 1 \n", "/my ws", "a 1 "],
  ["a clone at the root", "gitdir: /.git/worktrees/a1\n", "", "a1"],
  [
    "a clone that lies in another's admin directory",
    "gitdir: /x/.git/worktrees/y/.git/worktrees/a1\n",
    "/x/.git/worktrees/y",
    "a1",
  ],
  ["an id that starts with a dot", "gitdir: /ws/.git/worktrees/.a1\n", "/ws", ".a1"],
  ["letters beyond ASCII", "gitdir: /ws/.git/worktrees/é\n", "/ws", "é"],
])("a gitfile with %s names a worktree", (_, text, prefix, id) => {
  expect(parseGitfile(Buffer.from(text))).toEqual({ kind: "worktree", prefix, id });
});

test.each([
  ["a submodule's store", "gitdir: ../.git/modules/sub\n", "../.git/modules/sub"],
  [
    "a submodule's store below an admin directory",
    "gitdir: /ws/.git/worktrees/a1/modules/sub\n",
    "/ws/.git/worktrees/a1/modules/sub",
  ],
  ["a git directory", "gitdir: /ws/.git\n", "/ws/.git"],
  ["a bare's worktree", "gitdir: /r/.bare/worktrees/a1\n", "/r/.bare/worktrees/a1"],
  ["a directory whose name only ends in .git", "gitdir: /ws/x.git/worktrees/a1\n", "/ws/x.git/worktrees/a1"],
  ["the worktrees of nothing", "gitdir: .git/worktrees/a1\n", ".git/worktrees/a1"],
  ["no id", "gitdir: /ws/.git/worktrees/\n", "/ws/.git/worktrees/"],
])("a gitfile that names %s names something else", (_, text, gitDir) => {
  expect(parseGitfile(Buffer.from(text))).toEqual({ kind: "other", gitDir });
});

test.each([
  ["nothing", ""],
  ["no path", "gitdir: \n"],
  ["no space after the colon", "gitdir:/ws/.git/worktrees/a1\n"],
  ["another key", "worktree: /ws/.git/worktrees/a1\n"],
  ["a capital letter", "Gitdir: /ws/.git/worktrees/a1\n"],
  ["something before it", " gitdir: /ws/.git/worktrees/a1\n"],
  ["a second line", "gitdir: /ws/.git/worktrees/a1\ngitdir: /elsewhere/.git/worktrees/b1\n"],
  ["a NUL", "gitdir: /ws/.git/worktrees/a1\0b1\n"],
  ["the id .", "gitdir: /ws/.git/worktrees/.\n"],
  ["the id ..", "gitdir: /ws/.git/worktrees/..\n"],
])("a gitfile that holds %s is not understood", (_, text) => {
  expect(parseGitfile(Buffer.from(text))).toEqual({ kind: "unreadable" });
});

test("a gitfile with bytes that are no UTF-8 is not understood, so that two names never become one", () => {
  const bytes = Buffer.concat([Buffer.from("gitdir: /ws/.git/worktrees/a"), Buffer.from([0xff, 0x0a])]);
  expect(parseGitfile(bytes)).toEqual({ kind: "unreadable" });
});
