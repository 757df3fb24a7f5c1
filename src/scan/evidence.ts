import { constants } from "node:fs";
import { access, lstat } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf } from "../errors.ts";
import { readHead, readOperations, readOwnRefs } from "../git/admin-directory.ts";
import { PrivateGitDir } from "../git/private-git-dir.ts";
import type { Clone } from "../model/clone.ts";
import {
  answered,
  unanswered,
  type Answer,
  type Answers,
  type Evidence,
  type StuckDirectory,
} from "../model/evidence.ts";
import { WORKTREES_PLACE } from "../model/place.ts";
import type { Head, ReadableAdmin, Skipped, Worktree } from "../model/worktree.ts";
import { createLimit } from "../system/concurrency.ts";
import { mountsWithin } from "../system/mounts.ts";
import type { OccupantSurvey } from "../system/occupants.ts";
import type { TreeFacts, Weight } from "../system/tree-facts.ts";
import { ask, askWith } from "./questions/ask.ts";
import { makeForgottenGitDir, type Baseline } from "./questions/forgotten.ts";
import { findEmbedded } from "./questions/embedded.ts";
import type { CommitsAsked } from "./questions/unpushed.ts";
import { askWorkingTree } from "./questions/working-tree.ts";
import type { Listing } from "./worktrees.ts";
import type { Tools } from "./tools.ts";

/** How many worktrees are looked at at a time: cold disks want about eight, warm ones lose nothing by it (PERF, "The whole plan"). */
const AT_A_TIME = 8;
/** One limit for the whole program: clones are scanned side by side, and share it. */
const limited = createLimit(AT_A_TIME);

/** What is read once for all worktrees of a clone. */
export interface Ground {
  readonly clone: Clone;
  /** Branch tips of the clone; unanswered when git cannot read the clone, and then nothing that needs git is answered. */
  readonly branches: Answer<ReadonlyMap<string, string>>;
  readonly occupants: Answer<OccupantSurvey>;
  readonly mounts: Answer<readonly string[]>;
}

/** Evidence that lacks the one answer which is asked for all worktrees of a repository at once. */
export interface Gathered {
  readonly worktree: Worktree;
  readonly head: Head | null;
  readonly answers: Omit<Answers, "unpushed">;
  readonly commits: CommitsAsked;
  /** Weight of what lies in it and in no worktree nested in it; null when its tree could not be walked. */
  readonly weight: Weight | null;
}

/** Puts to every listed worktree all questions but the batched one. */
export function gatherEvidence(
  tools: Tools,
  ground: Ground,
  listing: Listing,
  onDone: (directory: string, weight: Weight | null) => void,
): Promise<Gathered[]> {
  return Promise.all(
    listing.worktrees.map((worktree) =>
      limited(async () => {
        tools.signal.throwIfAborted();
        const gathered = await gatherOne(tools, ground, worktree, listing);
        onDone(worktree.directory, gathered.weight);
        return gathered;
      }),
    ),
  );
}

/** Returns the evidence with its last answer. */
export function completeEvidence(gathered: Gathered, unpushed: Answers["unpushed"]): Evidence {
  return { head: gathered.head, answers: { ...gathered.answers, unpushed } };
}

async function gatherOne(tools: Tools, ground: Ground, worktree: Worktree, listing: Listing): Promise<Gathered> {
  const { registration } = worktree;
  const children = listing.worktrees.filter((other) => other.parent === worktree.place);
  const skipped = listing.skipped.filter((entry) => entry.parent === worktree.place);
  const admin = readableAdmin(worktree);
  const head = await ask(async () => (admin === null ? null : readHead(admin, answerOrThrow(ground.branches))));
  const baseline = await askWith(head, (value) =>
    makeBaseline(tools, ground.clone, answerOrThrow(ground.branches), worktree, value),
  );
  const [tree, facts] = await Promise.all([
    askWorkingTree(tools, workingTree(ground, worktree, children, skipped), baseline),
    ask(() =>
      tools.trees.read(worktree.directory, { without: children.map(({ identity }) => identity), signal: tools.signal }),
    ),
  ]);
  if (baseline.kind === "answered") baseline.value.gitDir.remove();
  return {
    worktree,
    head: head.kind === "answered" ? head.value : { kind: "broken", words: head.words },
    answers: {
      registration: registrationAnswer(worktree),
      uncommitted: tree.uncommitted,
      ignored: tree.ignored,
      "in-progress": registration.state === "none" ? answered([]) : await askAdmin(worktree, readOperations),
      "embedded-repository": await askEmbedded(tools, ground.clone, worktree, facts, skipped),
      "in-use": await askWith(ground.occupants, async (survey) => survey.inside(worktree.identity, worktree.directory)),
      "mount-point": await askWith(ground.mounts, async (mounts) => mountsWithin(mounts, worktree.directory)),
      "not-removable": await askWith(facts, async ({ stuck }) => [...stuck, ...(await askParent(worktree))]),
    },
    commits: { clone: ground.clone, branches: ground.branches, commits: await askCommits(worktree, head) },
    weight: facts.kind === "answered" ? facts.value.weight : null,
  };
}

function answerOrThrow<T>(answer: Answer<T>): T {
  if (answer.kind === "unanswered") throw new Error(answer.words);
  return answer.value;
}

/** Returns the admin directory of a worktree's registration, or null when there is none that could be read. */
export function readableAdmin({ registration }: Worktree): ReadableAdmin | null {
  switch (registration.state) {
    case "none":
      return null;
    case "unreadable":
      return null;
    case "prunable":
    case "live":
    case "locked":
      return registration.admin;
  }
}

function registrationAnswer({ registration, misfit }: Worktree): Answers["registration"] {
  if (registration.state === "unreadable") return unanswered(registration.words);
  return misfit === null ? answered(null) : unanswered(misfit);
}

/**
 * Makes the private git directory in which a worktree's content is compared: with its HEAD and a copy of its index, or, for a directory that git
 * forgot, with the nearest commit that is safe. Throws when it has no HEAD that can be read.
 */
export async function makeBaseline(
  tools: Tools,
  clone: Clone,
  branches: ReadonlyMap<string, string>,
  worktree: Worktree,
  head: Head | null,
): Promise<Baseline> {
  if (worktree.registration.state === "unreadable") throw new Error(worktree.registration.words);
  const admin = readableAdmin(worktree);
  if (admin === null || head === null) return makeForgottenGitDir(tools, clone, worktree, branches);
  if (head.kind === "broken") throw new Error(head.words);
  const commit = head.kind === "unborn" ? null : head.commit;
  const gitDir = await PrivateGitDir.create(tools.temporary, {
    commit,
    objects: [`${clone.gitDir}/objects`],
    indexOf: admin.directory,
    sha256: (commit ?? [...branches.values()][0] ?? "").length === 64,
  });
  return { gitDir, status: null };
}

function workingTree(ground: Ground, worktree: Worktree, children: readonly Worktree[], skipped: readonly Skipped[]) {
  return {
    directory: worktree.directory,
    clonePath: ground.clone.path,
    isForgotten: worktree.registration.state === "none",
    nestedNames: new Set([...children, ...skipped].map(({ place }) => place.slice(place.lastIndexOf("/") + 1))),
  };
}

/** Asks something of the admin directory; a registration that cannot be read has no answer. */
async function askAdmin<T>(worktree: Worktree, probe: (adminDirectory: string) => Promise<T>): Promise<Answer<T>> {
  if (worktree.registration.state === "unreadable") return unanswered(worktree.registration.words);
  const admin = readableAdmin(worktree);
  if (admin === null) throw new Error("Assertion failed: a forgotten worktree has no admin directory to ask");
  return ask(() => probe(admin.directory));
}

async function askCommits(worktree: Worktree, head: Answer<Head | null>): Promise<Answer<readonly string[]>> {
  if (worktree.registration.state === "none") return answered([]);
  const own = await askAdmin(worktree, readOwnRefs);
  return askWith(own, async (commits) => {
    const value = answerOrThrow(head);
    switch (value?.kind) {
      case "branch":
      case "detached":
        return [value.commit, ...commits];
      case "unborn":
        return commits;
      case "broken":
        throw new Error(value.words);
      case undefined:
        throw new Error("its HEAD could not be read");
    }
  });
}

function askEmbedded(
  tools: Tools,
  clone: Clone,
  worktree: Worktree,
  facts: Answer<TreeFacts>,
  skipped: readonly Skipped[],
): Promise<Answer<readonly string[]>> {
  return askWith(facts, ({ gitEntries, bareRepositories }) => {
    const elsewhere = skipped.map(({ place }) => `${WORKTREES_PLACE}/${place.slice(place.lastIndexOf("/") + 1)}/`);
    const inside = (path: string): boolean => !elsewhere.some((prefix) => path.startsWith(prefix));
    return findEmbedded(tools, {
      clone,
      admin: readableAdmin(worktree),
      tree: {
        place: worktree.place,
        directory: worktree.directory,
        gitEntries: gitEntries.filter(inside),
        bareRepositories: bareRepositories.filter((path) => inside(`${path}/`)),
      },
    });
  });
}

/** A worktree and its registration leave their places only when this user may write to what holds them, and to them themselves. */
async function askParent(worktree: Worktree): Promise<StuckDirectory[]> {
  const admin = readableAdmin(worktree);
  const moved = [worktree.directory, ...(admin === null ? [] : [admin.directory])];
  for (const directory of moved.flatMap((path) => [dirname(path), path])) {
    try {
      await access(directory, constants.W_OK | constants.X_OK);
    } catch (error) {
      if (errnoOf(error) === "EACCES" || errnoOf(error) === "EROFS")
        return [{ path: "", owner: `uid ${(await lstat(directory)).uid}, as ${directory} does` }];
      throw error;
    }
  }
  return [];
}
