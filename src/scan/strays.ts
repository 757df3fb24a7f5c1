import { readHead, readOperations, readOwnRefs } from "../git/admin-directory.ts";
import { PrivateGitDir } from "../git/private-git-dir.ts";
import { splitNul } from "../git/run.ts";
import { answered, unanswered, type Answer } from "../model/evidence.ts";
import type { StrayAnswers, StrayRegistration } from "../model/scan.ts";
import { registrationId, type Head, type ReadableAdmin, type Registered } from "../model/worktree.ts";
import { lstatWithin } from "../system/small-file.ts";
import type { Ground } from "./evidence.ts";
import { ask, askWith } from "./questions/ask.ts";
import { findEmbedded } from "./questions/embedded.ts";
import type { CommitsAsked } from "./questions/unpushed.ts";
import type { Registrations } from "./registrations.ts";
import type { Listing } from "./worktrees.ts";
import type { Tools } from "./tools.ts";

/** A stray registration that lacks the one answer which is asked for all of a repository at once. */
export interface GatheredStray extends Omit<StrayRegistration, "answers"> {
  readonly answers: Omit<StrayAnswers, "unpushed">;
  readonly commits: CommitsAsked;
}

/**
 * Finds the registrations for which no directory stands, and asks of each what would die with its admin directory: commits, what its index alone
 * holds, operations, stores of submodules (GIT-FACTS 8). A registration whose directory is, or may be, somewhere else is none of them
 * unless git would call it prunable: then nobody here can tell, and it is kept.
 */
export async function gatherStrays(
  tools: Tools,
  ground: Ground,
  registrations: Registrations,
  listing: Listing,
): Promise<GatheredStray[]> {
  const joined = new Set(listing.worktrees.map(({ registration }) => registrationId(registration)));
  const strays: GatheredStray[] = [];
  for (const registration of registrations.all) {
    if (joined.has(registrationId(registration))) continue;
    const standing = await ask(() => findStanding(ground, registrations, registration));
    if (standing.kind === "answered" && standing.value === "elsewhere") continue;
    strays.push(await gatherStray(tools, ground, registrations, registration, standing));
  }
  return strays;
}

/** `elsewhere`: its directory exists outside every worktrees place. */
type Standing = "nowhere" | "elsewhere";

/** Throws when it cannot be told where the directory of a registration is. */
async function findStanding(ground: Ground, registrations: Registrations, registration: Registered): Promise<Standing> {
  if (registration.state === "unreadable") throw new Error(registration.words);
  const { recordedPath, id } = registration.admin;
  const inside = registrations.insideClone(recordedPath, id);
  if (inside === null) {
    if (registration.state === "live") return "elsewhere";
    throw new Error(`whether a directory stands at its recorded path ${recordedPath} cannot be seen from here`);
  }
  const there = await lstatWithin(ground.clone.path, inside);
  if (there === null) return "nowhere";
  if (registrations.placeOf(registration) === null) return "elsewhere";
  throw new Error(`something that is not its worktree stands at ${inside}`);
}

async function gatherStray(
  tools: Tools,
  ground: Ground,
  registrations: Registrations,
  registration: Registered,
  standing: Answer<Standing>,
): Promise<GatheredStray> {
  const readable = await ask(async () => {
    if (registration.state === "unreadable") throw new Error(registration.words);
    return registration.admin;
  });
  const head = await askWith(readable, async (admin) => {
    if (ground.branches.kind === "unanswered") throw new Error(ground.branches.words);
    return readHead(admin, ground.branches.value);
  });
  return {
    registration,
    place: registrations.placeOf(registration),
    head: head.kind === "answered" ? head.value : null,
    answers: {
      registration: standing.kind === "answered" ? answered(null) : unanswered(standing.words),
      uncommitted: await askWith(readable, (admin) => findStaged(tools, ground, admin, head)),
      "in-progress": await askWith(readable, (admin) => readOperations(admin.directory)),
      "embedded-repository": await askWith(readable, (admin) =>
        findEmbedded(tools, { clone: ground.clone, admin, tree: null }),
      ),
    },
    commits: {
      clone: ground.clone,
      branches: ground.branches,
      commits: await askWith(readable, async (admin) => [...commitsOf(head), ...(await readOwnRefs(admin.directory))]),
    },
  };
}

function commitsOf(head: Answer<Head>): string[] {
  if (head.kind === "unanswered") throw new Error(head.words);
  switch (head.value.kind) {
    case "branch":
    case "detached":
      return [head.value.commit];
    case "unborn":
      return [];
    case "broken":
      throw new Error(head.value.words);
  }
}

/** Returns the paths whose content only the index of the registration holds. */
async function findStaged(tools: Tools, ground: Ground, admin: ReadableAdmin, head: Answer<Head>): Promise<string[]> {
  const commit = commitsOf(head)[0] ?? null;
  const gitDir = await PrivateGitDir.create(tools.temporary, {
    commit,
    objects: [`${ground.clone.gitDir}/objects`],
    indexOf: admin.directory,
    sha256: commit?.length === 64,
  });
  try {
    const args =
      commit === null
        ? ["ls-files", "-z"]
        : ["diff-index", "--cached", "--name-only", "-z", "--ignore-submodules=none", commit];
    return splitNul((await tools.git.run({ gitDir: gitDir.path, args })).stdout);
  } finally {
    gitDir.remove();
  }
}
