import { Command, Option } from "clipanion";
import { DlCommand } from "./base.ts";

/** `dl --restore`: lists what forced removals saved, and makes a working copy of one again. */
export class RestoreCommand extends DlCommand {
  static override paths = [["--restore"]];

  static override usage = Command.Usage({
    description: "list what forced removals saved, or bring one back",
    details: `
      Without an argument it lists the archives that \`dl --prune --force-worktrees\` saved before it removed a worktree.

      With an archive's name, or an unambiguous end of it, and \`--to DIR\`, it makes DIR, which must not exist: a clone whose \`origin\` is the forge,
      on the branch or commit that the worktree had, with its index and its uncommitted files as they were. Ignored files were not saved.
      An archive is never deleted.
    `,
    examples: [
      ["List what was saved", "dl --restore"],
      ["Bring one back", "dl --restore 2026-01-31/widget-main-x1y2/a1 --to ~/back"],
    ],
  });

  archive = Option.String({ required: false, name: "archive" });
  to = Option.String("--to", { description: "DIR to make; it must not exist" });

  override async execute(): Promise<number> {
    const { RestoreRun } = await import("./restore-run.ts");
    return new RestoreRun(this.context, this, this.reposDirPath()).run();
  }
}
