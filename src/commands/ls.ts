import { Command, Option } from "clipanion";
import { DlCommand } from "./base.ts";

/** `dl --ls`: what there is, and what it costs. */
export class LsCommand extends DlCommand {
  static override paths = [["--ls"]];

  static override usage = Command.Usage({
    description: "list every clone, and with --size what it and its worktrees weigh",
    details: `
      Lists the clones below repos_dir: branch, number of worktrees, last fetch of the bare beside it.

      \`--size\` adds what removing each would give back, and how much of that is its worktrees: exact allocated bytes, files that are hard-linked from
      outside not counted. \`--worktrees\` adds a line for each worktree.

      Exit codes: 0 done; 1 a repository could not be read; 2 usage.
    `,
    examples: [
      ["Where did the disk go?", "dl --ls --size"],
      ["And to which worktrees?", "dl --ls --size --worktrees"],
    ],
  });

  size = Option.Boolean("--size", false, { description: "measure clones and their worktrees" });
  worktrees = Option.Boolean("--worktrees", false, { description: "a line for each worktree" });

  override async execute(): Promise<number> {
    const { LsRun } = await import("./ls-run.ts");
    return new LsRun(this.context, this, this.reposDirPath()).run();
  }
}
