import type { BaseContext } from "clipanion";
import { resolve } from "node:path";
import { restoreArchive } from "../act/restore.ts";
import { KnownError } from "../errors.ts";
import type { RestoreDocument } from "../report/documents.ts";
import { harmless, jsonText } from "../report/plain-text.ts";
import { restoreDocument } from "../report/restore-document.ts";
import { renderArchives } from "../report/restore-text.ts";
import { findArchives, matchArchives, type FoundArchive } from "../scan/archives.ts";
import { findClones, openReposDir } from "../scan/clones.ts";
import { makeView } from "./view.ts";
import { withSession, write } from "./session.ts";

/** The options of `dl --restore`. */
export interface RestoreOptions {
  readonly json: boolean;
  readonly archive: string | undefined;
  readonly to: string | undefined;
}

/** One run of `dl --restore`: find the archives, and list them or restore one. */
export class RestoreRun {
  readonly #context: BaseContext;
  readonly #options: RestoreOptions;
  readonly #reposDirPath: string;

  constructor(context: BaseContext, options: RestoreOptions, reposDirPath: string) {
    this.#context = context;
    this.#options = options;
    this.#reposDirPath = reposDirPath;
  }

  /** Returns the exit code. Throws a `KnownError` for what the person can mend. */
  async run(): Promise<number> {
    if (this.#options.archive === undefined && this.#options.to !== undefined) {
      throw new KnownError("--to says where, but not what: name an archive too. `dl --restore` lists them.");
    }
    const reposDir = await openReposDir(this.#reposDirPath);
    if (reposDir === null) {
      if (this.#options.archive !== undefined)
        throw new KnownError(`there is no archive ${this.#options.archive}: ${this.#reposDirPath} does not exist.`);
      return this.#print(restoreDocument(this.#reposDirPath, [], null), 0);
    }
    return withSession(this.#context, reposDir, async ({ tools }) => {
      const { archives, errors } = await findArchives(tools.git, await findClones(reposDir));
      for (const words of errors) this.#context.stderr.write(`dl: ${harmless(words)}\n`);
      if (this.#options.archive === undefined)
        return this.#print(restoreDocument(reposDir, archives, null), errors.length > 0 ? 1 : 0);
      const archive = only(archives, this.#options.archive);
      if (this.#options.to === undefined)
        throw new KnownError(`say where to restore ${archive.name}: --to DIR, which must not exist.`);
      const to = resolve(this.#options.to);
      await restoreArchive(tools.git, archive, to);
      return this.#print(restoreDocument(reposDir, [archive], { name: archive.name, to }), 0);
    });
  }

  async #print(document: RestoreDocument, exitCode: number): Promise<number> {
    const view = makeView(this.#context, { verbose: false, flags: { force: false, discardIgnored: false } });
    await write(this.#context.stdout, this.#options.json ? jsonText(document) : renderArchives(document, view));
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
