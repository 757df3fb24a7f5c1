/** What a `.git` file names: text, never resolved by following it. */
export type Gitfile =
  | {
      readonly kind: "worktree";
      /** What stands before `/.git/worktrees/<id>`: a clone's path as somebody wrote it, absolute or relative. */
      readonly prefix: string;
      readonly id: string;
    }
  | { readonly kind: "other"; readonly gitDir: string }
  | { readonly kind: "unreadable" };

/**
 * Parses the bytes of a gitfile: `gitdir: <path>`, one trailing line break allowed (gitrepository-layout(5)).
 * `other` is a well-formed gitfile that names something else than a worktree's admin directory, such as a submodule's store.
 */
export function parseGitfile(bytes: Buffer): Gitfile {
  const text = bytes.toString("utf8").replace(/[\r\n]+$/, "");
  if (!text.startsWith("gitdir: ") || /[\0\n\uFFFD]/.test(text)) return { kind: "unreadable" };
  const gitDir = text.slice("gitdir: ".length);
  if (gitDir === "") return { kind: "unreadable" };
  const match = /^(.*)\/\.git\/worktrees\/([^/]+)$/.exec(gitDir);
  if (match === null) return { kind: "other", gitDir };
  const [, prefix = "", id = ""] = match;
  return id === "." || id === ".." ? { kind: "unreadable" } : { kind: "worktree", prefix, id };
}
