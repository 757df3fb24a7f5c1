import { Command, Option, type BaseContext } from "clipanion";
import { homedir } from "node:os";
import { join } from "node:path";
import { KnownError } from "../errors.ts";
import { Interrupted, ReaderGone } from "../system/interrupt.ts";

/** What all of dl's commands share: repos_dir, JSON, and what becomes of an error. */
export abstract class DlCommand extends Command<BaseContext> {
  json = Option.Boolean("--json", false, { description: "print one JSON document on standard output" });

  reposDir = Option.String("--repos-dir", {
    description: "DIR that holds the repositories; $XDG_CACHE_HOME/devlaunch/repos unless given",
  });

  /** Runs the command and returns its exit code. Every error ends on standard error: 2 for what the person can mend, 1 for a bug. */
  override async validateAndExecute(): Promise<number> {
    try {
      refuseSecondClipanion(this);
      return await super.validateAndExecute();
    } catch (error) {
      if (error instanceof Interrupted) return error.exitCode;
      if (error instanceof ReaderGone) return 1;
      if (error instanceof KnownError) {
        const { harmless } = await import("../report/plain-text.ts");
        this.context.stderr.write(`dl: ${error.message.split("\n").map(harmless).join("\n")}\n`);
        return error.exitCode;
      }
      this.context.stderr.write(
        `dl: this is a bug in dl; nothing more was done.\n${error instanceof Error ? error.stack : String(error)}\n`,
      );
      return 1;
    }
  }

  /** Returns where the repositories are: `--repos-dir`, else `$XDG_CACHE_HOME/devlaunch/repos`, else below `~/.cache` (SPEC §1). */
  protected reposDirPath(): string {
    if (this.reposDir !== undefined) {
      if (this.reposDir === "")
        throw new KnownError("--repos-dir is empty. Give it the directory that holds the repositories.");
      return this.reposDir;
    }
    const { XDG_CACHE_HOME: cache, HOME: home } = this.context.env;
    return join(cache || join(home || homedir(), ".cache"), "devlaunch", "repos");
  }
}

/**
 * Throws when the program that hosts this command brought another copy of clipanion: our options would be objects there, every one of them true,
 * and a prune would not ask.
 */
function refuseSecondClipanion(command: Command<BaseContext>): void {
  const isUnparsed = Object.values(command).some(
    (value: unknown) => typeof value === "object" && value !== null && Command.isOption in value,
  );
  if (isUnparsed) {
    throw new KnownError(
      "two copies of clipanion are installed, and dl was registered with the one that it does not use. Run `npm dedupe`, or depend on the clipanion that dl names as its peer.",
    );
  }
}
