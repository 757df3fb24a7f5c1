import type { ReasonCode } from "../classify/reason.ts";

/** What would let a worktree go, in a few words, by reason. */
const ADVICE = {
  locked: "`git worktree unlock` it",
  uncommitted: "commit and push it",
  ignored: "copy what you need, or --discard-ignored",
  "in-progress": "finish it or abort it",
  unpushed: "push it, and let the bare be fetched",
  "embedded-repository": "push what is in it, and move it away",
  "could-not-tell": "see to what git could not read",
  "live-registration": "`git worktree remove` it where it was made",
  "in-use": "stop what runs there",
  nested: "see to what is inside it",
  "mount-point": "unmount it",
  "not-removable": "have its owner remove it or hand it over",
} as const satisfies Record<ReasonCode, string>;

/** Returns what would let go what stays for this reason, or "" for a code that is none of ours. */
export function adviceFor(code: string): string {
  return code in ADVICE ? ADVICE[code as ReasonCode] : "";
}
