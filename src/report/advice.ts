import type { ReasonCode } from "../classify/reason.ts";

/** What would let a worktree go, by reason. Only what the contract says a flag passes is offered a flag (SPEC §2). */
export const ADVICE = {
  locked: "`git worktree unlock` in its container, or --force-worktrees",
  uncommitted: "commit and push it, or --force-worktrees, which saves it first",
  ignored: "copy what you need, then --discard-ignored, or --force-worktrees; ignored files are not saved",
  "in-progress": "finish or abort what is under way, or --force-worktrees, which saves it first",
  unpushed: "push it and let the bare be fetched, or --force-worktrees, which saves it first",
  "embedded-repository": "push what is in that repository and move it away; no flag passes it",
  "could-not-tell": "look into the words above; --force-worktrees passes it when all of it can be saved",
  "live-registration": "`git worktree remove` it where it was made; no flag passes it",
  "in-use": "stop those processes; no flag passes it",
  nested: "see to what is inside it",
  "mount-point": "unmount what is mounted there; no flag passes it",
  "not-removable": "have its owner remove or hand over that directory; no flag passes it",
} as const satisfies Record<ReasonCode, string>;

/** Returns what would let go what stays for this reason. */
export function adviceFor(code: string): string {
  return code in ADVICE ? ADVICE[code as ReasonCode] : "";
}
