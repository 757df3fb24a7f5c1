import { runChild } from "../system/child.ts";
import type { Programs } from "../system/programs.ts";
import { TIME_LIMIT_MS } from "../system/time-limit.ts";

/** What a clone's configuration could make git do, overridden; each was seen to matter (GIT-FACTS, "CFG"). */
const CONFIG = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.untrackedCache=false",
  "core.excludesFile=/dev/null",
  "core.attributesFile=/dev/null",
  "core.commitGraph=false",
  "gc.auto=0",
  "maintenance.auto=false",
  // Every command that meets GIT_GRAFT_FILE would say on standard error that grafts are deprecated.
  "advice.graftFileDeprecated=false",
].flatMap((setting) => ["-c", setting]);

export interface GitCall {
  readonly gitDir: string;
  readonly workTree?: string;
  readonly args: readonly string[];
  readonly input?: string | Buffer;
  /** Extra environment: object directories of a private git directory, the protocol of one local fetch. */
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes that are an answer; any other is a `GitError`. */
  readonly exitCodes?: readonly number[];
  readonly timeLimitMs?: number;
}

export interface GitAnswer {
  readonly exitCode: number;
  readonly stdout: Buffer;
}

/** A git command that gave no answer: it failed, ran out of time, or wrote to standard error. */
export class GitError extends Error {
  override readonly name = "GitError";
  readonly args: readonly string[];

  constructor(args: readonly string[], words: string) {
    super(words);
    this.args = args;
  }
}

/** The one door to git: nothing else starts it. */
export class Git {
  readonly #program: string;
  readonly #environment: Readonly<Record<string, string>>;
  /** How many git processes this run started; a measure, and what tests count. */
  started = 0;

  constructor(programs: Programs) {
    this.#program = programs.require("git", "2.34 or newer");
    this.#environment = hardened(programs.path);
  }

  /**
   * Runs one git command on an explicit git directory and returns its exit code and standard output.
   * Throws a `GitError` with git's words when the exit code was not expected, when it took longer than the time limit, or when
   * it wrote anything to standard error: `status` exits 0 over a directory it cannot read (GIT-FACTS fact 6).
   */
  async run(call: GitCall): Promise<GitAnswer> {
    // A work tree is always named, so that no core.worktree of the repository's leads git anywhere; where none is needed, one that is there.
    return this.#start(
      [...CONFIG, `--git-dir=${call.gitDir}`, `--work-tree=${call.workTree ?? call.gitDir}`, ...call.args],
      call,
    );
  }

  /** Returns what `git version` prints, without any repository. */
  async version(): Promise<string> {
    const { stdout } = await this.#start(["version"], {});
    return stdout.toString("utf8").trim();
  }

  /** Makes a new repository at a path, from no template. Throws a `GitError` when it cannot. */
  async init(path: string, sha256: boolean): Promise<void> {
    await this.#start(
      ["init", "-q", "--template=", `--object-format=${sha256 ? "sha256" : "sha1"}`, "--initial-branch=main", path],
      {},
    );
  }

  /**
   * Returns `init.defaultBranch` of the person who runs dl, or null: the one setting of theirs that SPEC §2 asks for.
   * It is read from their own configuration alone, never from a repository's.
   */
  async usersDefaultBranch(home: string | undefined, xdgConfigHome: string | undefined): Promise<string | null> {
    if (home === undefined) return null;
    const { GIT_CONFIG_GLOBAL: _, ...env } = this.#environment;
    const users = { ...env, HOME: home, XDG_CONFIG_HOME: xdgConfigHome || `${home}/.config` };
    const answer = await this.#start(
      ["config", "--global", "--includes", "--get", "init.defaultBranch"],
      { exitCodes: [0, 1] },
      users,
    );
    return answer.stdout.toString("utf8").trim() || null;
  }

  async #start(
    args: readonly string[],
    call: Omit<GitCall, "gitDir" | "args">,
    environment = this.#environment,
  ): Promise<GitAnswer> {
    this.started++;
    const { exitCode, stdout, words, failure } = await runChild(this.#program, args, {
      env: { ...environment, ...call.env },
      timeLimitMs: call.timeLimitMs ?? TIME_LIMIT_MS,
      ...(call.input !== undefined && { input: call.input }),
    });
    if (exitCode === null) throw new GitError(args, words || `git ${failure}`);
    if (!(call.exitCodes ?? [0]).includes(exitCode)) {
      throw new GitError(args, words || `git ended with exit code ${exitCode}`);
    }
    if (words !== "") throw new GitError(args, words);
    return { exitCode, stdout };
  }
}

/** Built from empty: an inherited GIT_DIR beats every option, and so would others (GIT-FACTS, "Environment of every call"). */
function hardened(path: string): Readonly<Record<string, string>> {
  return {
    PATH: path,
    HOME: "/nonexistent",
    XDG_CONFIG_HOME: "/nonexistent",
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    SSH_ASKPASS: "/bin/false",
    GIT_SSH_COMMAND: "/bin/false",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_GRAFT_FILE: "/dev/null",
    GIT_PAGER: "cat",
    GIT_AUTHOR_NAME: "dl",
    GIT_AUTHOR_EMAIL: "dl@localhost",
    GIT_COMMITTER_NAME: "dl",
    GIT_COMMITTER_EMAIL: "dl@localhost",
  };
}

/** Splits NUL-separated output into its records. */
export function splitNul(output: Buffer): string[] {
  const text = output.toString("utf8");
  if (text === "") return [];
  return (text.endsWith("\0") ? text.slice(0, -1) : text).split("\0");
}

/** Splits newline-separated output, for formats whose fields cannot hold a newline. */
export function splitLines(output: Buffer): string[] {
  const text = output.toString("utf8");
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}
