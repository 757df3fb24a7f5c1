import * as t from "typanion";
import { splitNul, type Git } from "./run.ts";

/** Where forced removals save what they take: out of the way of every branch, tag and fetch. */
export const ARCHIVE_NAMESPACE = "refs/dl/archive/";

const isArchiveFacts = t.isObject({
  version: t.isLiteral(1),
  createdAt: t.isString(),
  workspace: t.isString(),
  /** The worktree's place in the clone. */
  worktree: t.isString(),
  /** Full name of the branch that its HEAD was on; null when detached or forgotten. */
  branch: t.isNullable(t.isString()),
  /** Its HEAD's commit, the first parent; null when it had none. */
  commit: t.isNullable(t.isString()),
  /** The tree that its index held, where that is not HEAD's: the tree of the second parent. */
  indexTree: t.isNullable(t.isString()),
  changedPaths: t.cascade(t.isNumber(), [t.isInteger(), t.isAtLeast(0)]),
});

/** What an archive's commit message says of the worktree that it was made of. */
export type ArchiveFacts = Readonly<t.InferType<typeof isArchiveFacts>>;

const MARK = "dl-archive: ";

/** Returns the commit message of an archive: a line for people, and the facts in one line of JSON. */
export function archiveMessage(facts: ArchiveFacts): string {
  return `Saved by dl before a forced removal of a worktree\n\n${MARK}${JSON.stringify(facts)}\n`;
}

/** Returns the facts that an archive's message holds, or null when it is no message of an archive. */
export function parseArchiveMessage(message: string): ArchiveFacts | null {
  const line = message.split("\n").find((one) => one.startsWith(MARK));
  if (line === undefined) return null;
  try {
    const facts: unknown = JSON.parse(line.slice(MARK.length));
    return isArchiveFacts(facts) ? facts : null;
  } catch {
    return null;
  }
}

/** One ref below the archive namespace. */
export interface ArchiveRef {
  /** The ref without the namespace: `<date>/<workspace>/<name>`. */
  readonly name: string;
  readonly ref: string;
  readonly object: string;
  readonly message: string;
}

/** Returns the archives of a repository, oldest first. Throws a `GitError` when git cannot read it. */
export async function listArchives(git: Git, gitDir: string): Promise<ArchiveRef[]> {
  const { stdout } = await git.run({
    gitDir,
    // A ref name holds neither a space nor a line break, a message holds no NUL (git-check-ref-format(1)).
    args: [
      "for-each-ref",
      "--sort=refname",
      "--sort=creatordate",
      "--format=%(refname) %(objectname) %(contents)%00",
      ARCHIVE_NAMESPACE,
    ],
  });
  return splitNul(stdout)
    .map((record) => record.trimStart())
    .filter((record) => record !== "")
    .map((record) => {
      const [ref = "", object = ""] = record.split(" ", 2);
      return {
        ref,
        name: ref.slice(ARCHIVE_NAMESPACE.length),
        object,
        message: record.slice(ref.length + object.length + 2),
      };
    });
}

/** Returns `<date>/<workspace>/<name>`, made fit for a ref and unlike every name that is taken. */
export function archiveName(facts: ArchiveFacts, taken: ReadonlySet<string>): string {
  const name = facts.worktree.slice(facts.worktree.lastIndexOf("/") + 1);
  const wanted = `${facts.createdAt.slice(0, 10)}/${refComponent(facts.workspace)}/${refComponent(name)}`;
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? wanted : `${wanted}-${n}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/** A ref is a file, and git writes `<name>.lock` beside it: both must fit the 255 bytes that a name may have, `-<n>` included. */
const MAX_COMPONENT = 200;

/** Makes one component of a ref of any text (git-check-ref-format(1)). */
function refComponent(text: string): string {
  const safe = text
    .replace(/[^\p{L}\p{N}._+=,-]+/gu, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^[.-]+|\.+$/g, "")
    .replace(/\.lock$/, "-lock");
  if (safe === "") return "worktree";
  let cut = safe;
  while (Buffer.byteLength(cut) > MAX_COMPONENT) cut = [...cut].slice(0, -1).join("");
  return cut.replace(/[.]+$/, "").replace(/\.lock$/, "-lock");
}
