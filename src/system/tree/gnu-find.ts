import { runChild, startChild } from "../child.ts";
import type { Programs } from "../programs.ts";
import type { Asked, Walk } from "./records.ts";

/** How many of find's complaints are told. */
const MAX_COMPLAINTS = 3;

/** Returns a walk by GNU find, one process a tree, nearly as fast as `du` (PERF, "Sizes"); null when this machine has no such find. */
export async function findGnuFind(programs: Programs): Promise<Walk | null> {
  for (const name of ["find", "gfind"]) {
    const program = programs.find(name);
    if (program !== null && (await isGnuFind(program, programs))) return createFindWalk(program, programs);
  }
  return null;
}

async function isGnuFind(program: string, programs: Programs): Promise<boolean> {
  const { stdout } = await runChild(program, ["--version"], { env: programs.env, timeLimitMs: 10_000 });
  return stdout.toString().startsWith("find (GNU findutils)");
}

function createFindWalk(program: string, programs: Programs): Walk {
  return async function* (tree, asked) {
    const { signal } = asked;
    const find = startChild(program, [tree, ...expression(asked)], { env: programs.env, ...(signal && { signal }) });
    yield* find.stdout;
    const { exitCode, words, failure } = await find.ended;
    // What vanished meanwhile weighs nothing. Names in complaints are escaped, so that lines are lines.
    const complaints = words.split("\n").filter((line) => line !== "" && !line.endsWith(": No such file or directory"));
    if (complaints.length > 0) throw new Error(complaints.slice(0, MAX_COMPLAINTS).join("; "));
    // GNU find ends with 1 when something vanished before it was looked at.
    if (exitCode !== 0 && exitCode !== 1) throw new Error(`find ${failure ?? `ended with exit code ${exitCode}`}`);
  };
}

/** Returns the arguments that make find print records. Directories are told apart first, so that its optimizer does not ask the inode of every file. */
function expression({ without, weightOnly }: Asked): string[] {
  const user = process.geteuid?.() ?? 0;

  const gitEntry = ["-name", ".git", "-printf", "g%P\\0"];
  const head = ["-name", "HEAD", "-printf", "h%P\\0"];
  const inodes = either(...without.map((inode) => ["-inum", String(inode)]));
  const leftOut = without.length === 0 ? [] : [[...inodes, "-prune"]];
  const notSticky = user === 0 ? [] : ["!", "(", "-perm", "-1000", "!", "-uid", String(user), ")"];
  // What its owner may read and enter needs no question; writing does, as a file system or an attribute may forbid it.
  const readable = either(["-uid", String(user), "-perm", "-500"], ["-readable", "-executable"]);
  const free = [...readable, ...(weightOnly ? [] : ["-writable", ...notSticky])];
  // What cannot be read and entered is not tried: the record says so, not an error.
  const restricted = ["-printf", "r%U/%P\\0", ...either(["-readable", "-executable"], ["-prune"])];
  const names = (...choices: string[][]): string[] => (weightOnly ? [] : either(...choices, ["-true"]));
  const entered = ["-printf", "d%b %D\\n", ...names(gitEntry), ...either(free, restricted)];
  const directory = ["-type", "d", ...either(...leftOut, entered)];
  const file = [
    ...names(["-name", "[.H]*", ...names(gitEntry, head)]),
    ...either(["-links", "1", "-printf", "%b\\n"], ["-printf", "l%b %n %i %D\\n"]),
  ];
  return ["-xdev", ...either(directory, file)];
}

function either(...choices: readonly (readonly string[])[]): string[] {
  return ["(", ...choices.flatMap((choice) => ["-o", ...choice]).slice(1), ")"];
}
