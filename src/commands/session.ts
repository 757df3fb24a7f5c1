import type { BaseContext } from "clipanion";
import { setMaxListeners } from "node:events";
import type { Writable } from "node:stream";
import { Git } from "../git/run.ts";
import { requireGitVersion } from "../git/version.ts";
import type { Tools } from "../scan/tools.ts";
import { ReaderGone, watchInterrupts } from "../system/interrupt.ts";
import { Programs } from "../system/programs.ts";
import { TemporaryDirectory } from "../system/temporary.ts";
import { createTreeReader } from "../system/tree-facts.ts";

/** What a command works with from its first look at repos_dir to its end. */
export interface Session {
  readonly tools: Tools;
  /** The exit code of an interruption, or null while there was none. */
  readonly interrupted: () => number | null;
}

/**
 * Runs a command's work with the tools that it needs, and takes the temporary directory away whatever happens. An interruption, or a reader of
 * standard output that went away, aborts the tools' signal. Throws a `KnownError` when a program is missing or too old.
 */
export async function withSession<T>(
  context: BaseContext,
  reposDir: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const programs = new Programs(context.env.PATH, reposDir);
  const git = new Git(programs);
  await requireGitVersion(git);
  const interrupt = watchInterrupts();
  const closed = new AbortController();
  const signal = AbortSignal.any([interrupt.signal, closed.signal]);
  // Every program that is running at a time listens to it.
  setMaxListeners(0, signal);
  const onError = (error: NodeJS.ErrnoException): void => {
    if (error.code === "EPIPE") closed.abort(new ReaderGone());
  };
  context.stdout.on("error", onError);
  const temporary = await TemporaryDirectory.create(reposDir);
  let users: Promise<string | null> | null = null;
  try {
    return await work({
      tools: {
        reposDir,
        programs,
        git,
        trees: await createTreeReader(programs),
        temporary,
        usersDefaultBranch: () => (users ??= git.usersDefaultBranch(context.env.HOME, context.env.XDG_CONFIG_HOME)),
        signal,
      },
      interrupted: () => interrupt.exitCode,
    });
  } finally {
    await temporary.remove();
    interrupt.stop();
    context.stdout.off("error", onError);
  }
}

/** Writes to a stream and waits until it was taken; a reader that went away is no error. */
export function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}
