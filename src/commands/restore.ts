import { Command, Option } from "clipanion";
import { resolve } from "node:path";
import { restoreArchive } from "../act/restore.ts";
import { KnownError } from "../errors.ts";
import type { RestoreDocument } from "../report/documents.ts";
import { harmless } from "../report/plain-text.ts";
import { restoreDocument } from "../report/restore-document.ts";
import { renderArchives } from "../report/restore-text.ts";
import { findArchives, matchArchives, type FoundArchive } from "../scan/archives.ts";
import { findClones, openReposDir } from "../scan/clones.ts";
import { DlCommand } from "./base.ts";
import { makeView } from "./view.ts";
import { withSession, write } from "./session.ts";

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
    if (this.archive === undefined && this.to !== undefined) {
      throw new KnownError("--to says where, but not what: name an archive too. `dl --restore` lists them.");
    }
    const reposDir = await openReposDir(this.reposDirPath());
    if (reposDir === null) {
      if (this.archive !== undefined)
        throw new KnownError(`there is no archive ${this.archive}: ${this.reposDirPath()} does not exist.`);
      return this.#print(restoreDocument(this.reposDirPath(), [], null), 0);
    }
    return withSession(this.context, reposDir, async ({ tools }) => {
      const { archives, errors } = await findArchives(tools.git, await findClones(reposDir));
      for (const words of errors) this.context.stderr.write(`dl: ${harmless(words)}\n`);
      if (this.archive === undefined)
        return this.#print(restoreDocument(reposDir, archives, null), errors.length > 0 ? 1 : 0);
      const archive = only(archives, this.archive);
      if (this.to === undefined)
        throw new KnownError(`say where to restore ${archive.name}: --to DIR, which must not exist.`);
      const to = resolve(this.to);
      await restoreArchive(tools.git, archive, to);
      return this.#print(restoreDocument(reposDir, [archive], { name: archive.name, to }), 0);
    });
  }

  async #print(document: RestoreDocument, exitCode: number): Promise<number> {
    const view = makeView(this.context, { verbose: false, flags: { force: false, discardIgnored: false } });
    await write(
      this.context.stdout,
      this.json ? `${JSON.stringify(document, null, 2)}\n` : renderArchives(document, view),
    );
    return exitCode;
  }
}

/** Returns the one archive that a name means. Throws a `KnownError` that lists the candidates when there is none, or more than one. */
function only(archives: readonly FoundArchive[], name: string): FoundArchive {
  const [archive, ...others] = matchArchives(archives, name);
  if (archive !== undefined && others.length === 0) return archive;
  const candidates = (archive === undefined ? archives : [archive, ...others]).map(
    (one) => `  ${one.name}  (${one.repository})`,
  );
  const list =
    candidates.length === 0 ? " No archive was ever saved." : ` Name one of these:\n${candidates.join("\n")}`;
  throw new KnownError(
    `${archive === undefined ? `there is no archive ${name}.` : `${name} means more than one archive.`}${list}`,
  );
}
