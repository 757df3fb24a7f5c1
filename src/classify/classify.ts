import { MAX_NAMED, QUESTIONS, type Answer, type Answers, type Evidence, type Question } from "../model/evidence.ts";
import type { StrayRegistration } from "../model/scan.ts";
import type { Head, Registration, Worktree } from "../model/worktree.ts";
import { reason, type Reason } from "./reason.ts";

export type Class = "forgotten" | "prunable" | "locked" | "held";

/** What a person gave leave to drop for the whole run. */
export interface Leave {
  readonly discardIgnored: boolean;
}

/** A worktree's class and every reason that it stays, what is nested in it left out: the plan knows that. */
export interface Verdict {
  readonly class: Class;
  readonly reasons: readonly Reason[];
}

/** Judges one worktree by its evidence. It may go only when every question was answered, and answered clear (SPEC §6.1). */
export function classify(worktree: Worktree, evidence: Evidence, leave: Leave): Verdict {
  const reasons = [
    ...registrationReasons(worktree.registration),
    ...judgeAll(QUESTIONS, evidence.answers, {
      head: evidence.head,
      leave,
      forgotten: worktree.registration.state === "none",
    }),
  ];
  return { class: classOf(worktree.registration, reasons), reasons };
}

/** Returns the class of a worktree with these reasons to stay. */
export function classOf(registration: Registration, reasons: readonly Reason[]): Class {
  if (registration.state === "locked") return "locked";
  if (reasons.length > 0) return "held";
  switch (registration.state) {
    case "none":
      return "forgotten";
    case "prunable":
      return "prunable";
    case "live":
    case "unreadable":
      return "held";
  }
}

const STRAY_QUESTIONS = ["registration", "uncommitted", "in-progress", "unpushed", "embedded-repository"] as const;

/** Returns every reason that a registration without a directory is kept. */
export function classifyStray(stray: StrayRegistration): readonly Reason[] {
  const context = { head: stray.head, leave: { discardIgnored: false }, forgotten: false };
  return [...registrationReasons(stray.registration), ...judgeAll(STRAY_QUESTIONS, stray.answers, context)];
}

interface Context {
  readonly head: Head | null;
  readonly leave: Leave;
  readonly forgotten: boolean;
}

type ValueOf<A> = Extract<A, { kind: "answered" }> extends { readonly value: infer T } ? T : never;

/** Question → what a clear or unclear answer to it means. Keyed by question: a new one does not compile until it is judged. */
const JUDGES: { readonly [Q in Question]: (value: ValueOf<Answers[Q]>, context: Context) => Reason | null } = {
  registration: () => null,
  uncommitted: (paths, { forgotten }) =>
    paths.length === 0
      ? null
      : reason(
          "uncommitted",
          forgotten
            ? `${count(paths, "path")} in no commit that is safe elsewhere`
            : `${count(paths, "path")} with uncommitted work`,
          {
            paths: paths.slice(0, MAX_NAMED),
          },
        ),
  ignored: ({ paths, files, bytes }, { leave }) =>
    files === 0 || leave.discardIgnored
      ? null
      : reason(
          "ignored",
          `${plural(files, "ignored file")} (${bytes} bytes) that exist${files === 1 ? "s" : ""} nowhere else`,
          { paths },
        ),
  "in-progress": (operations) =>
    operations.length === 0 ? null : reason("in-progress", `under way: ${operations.join(", ")}`),
  unpushed: ({ commits }, { head }) =>
    commits.length === 0
      ? null
      : reason(
          "unpushed",
          `${count(commits, "commit")} on ${headName(head)} ${commits.length === 1 ? "is" : "are"} in no safe ref`,
          {
            commits: commits.slice(0, MAX_NAMED),
          },
        ),
  "embedded-repository": (paths) =>
    paths.length === 0
      ? null
      : reason("embedded-repository", `${count(paths, "git repository", "git repositories")} inside it`, {
          paths: paths.slice(0, MAX_NAMED),
        }),
  "in-use": (occupants) =>
    occupants.length === 0
      ? null
      : reason("in-use", `in use by ${occupants.map(({ pid, name }) => `pid ${pid} (${name})`).join(", ")}`),
  "mount-point": (mounts) =>
    mounts.length === 0
      ? null
      : reason("mount-point", "something is mounted in it", { paths: mounts.map((path) => path || ".") }),
  "not-removable": (stuck) =>
    stuck.length === 0
      ? null
      : reason(
          "not-removable",
          `${stuck[0]?.path || "the worktree itself"} cannot be emptied by this user; it belongs to ${stuck[0]?.owner}`,
          {
            paths: stuck.slice(0, MAX_NAMED).map(({ path }) => path || "."),
          },
        ),
};

function judgeAll<Q extends Question>(
  questions: readonly Q[],
  answers: { readonly [K in Q]: Answers[K] },
  context: Context,
): Reason[] {
  const reasons: Reason[] = [];
  const silent = new Map<string, Question[]>();
  const judge = <K extends Q>(question: K): void => {
    const answer: Answer<unknown> = answers[question];
    if (answer.kind === "unanswered") silent.set(answer.words, [...(silent.get(answer.words) ?? []), question]);
    else {
      const found = JUDGES[question](answer.value as never, context);
      if (found !== null) reasons.push(found);
    }
  };
  for (const question of questions) judge(question);
  // One failure often leaves several questions without an answer: it is one reason, which names them all.
  for (const [words, unanswered] of silent)
    reasons.push(reason("could-not-tell", `${unanswered.join(", ")}: ${words}`, { questions: unanswered }));
  return reasons;
}

function registrationReasons(registration: Registration): Reason[] {
  switch (registration.state) {
    case "locked":
      return [
        reason(
          "locked",
          registration.lockReason === null ? "git holds it locked" : `git holds it locked: ${registration.lockReason}`,
        ),
      ];
    case "live":
      return [
        reason(
          "live-registration",
          `git believes in it: its recorded path ${registration.admin.recordedPath} exists on this machine`,
        ),
      ];
    case "none":
    case "prunable":
    case "unreadable":
      return [];
  }
}

function headName(head: Head | null): string {
  switch (head?.kind) {
    case "branch":
    case "unborn":
      return head.ref.replace(/^refs\/heads\//, "");
    case "detached":
      return "a detached HEAD";
    case "broken":
    case undefined:
      return "its HEAD";
  }
}

function count(items: readonly unknown[], one: string, many = `${one}s`): string {
  return plural(items.length, one, many);
}

function plural(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
