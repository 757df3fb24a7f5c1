import { Command, Option } from "clipanion";
import { DlCommand } from "./base.ts";

/** `dl --prune`: plans, asks, removes and reports. */
export class PruneCommand extends DlCommand {
  static override paths = [["--prune"]];

  static override usage = Command.Usage({
    description: "remove the git worktrees that agents left behind, and nothing that exists nowhere else",
    details: `
      Finds every worktree below \`<clone>/.claude/worktrees/\` in the repositories of repos_dir, proves for each that everything in it exists
      elsewhere, prints the plan, asks, and removes what was proved.

      What goes: worktrees whose registration git calls prunable, or that git has forgotten, and whose every commit, edit and file is safe
      elsewhere or can be made again. What stays: everything else, each with its reasons.

      \`--force-worktrees\` also takes worktrees that are locked, or hold uncommitted, unpushed or ignored work or an operation under way; what it
      would destroy is saved first, except ignored files, and \`dl --restore\` brings it back. \`--discard-ignored\` drops ignored files alone.

      Exit codes: 0 done, nothing to do, dry run, or answered no; 1 something planned did not happen; 2 usage; 130 or 143 interrupted.
    `,
    examples: [
      ["See what would go, and why the rest stays", "dl --prune -n"],
      ["Remove without being asked, from a timer", "dl --prune -y"],
      ["Take locked and unfinished worktrees too, saved first", "dl --prune --force-worktrees"],
    ],
  });

  yes = Option.Boolean("-y,--yes", false, { description: "do not ask" });
  dryRun = Option.Boolean("-n,--dry-run", false, { description: "print the plan and change nothing" });
  force = Option.Boolean("--force-worktrees", false, {
    description: "go past locks, edits and unpushed commits, saved first",
  });
  discardIgnored = Option.Boolean("--discard-ignored", false, {
    description: "ignored files that exist nowhere else do not hold",
  });
  verbose = Option.Boolean("-v,--verbose", false, { description: "name every path and every skipped entry" });

  override async execute(): Promise<number> {
    const { PruneRun } = await import("./prune-run.ts");
    return new PruneRun(this.context, this, this.reposDirPath()).run();
  }
}
