import { Builtins, Cli, type BaseContext } from "clipanion";
import { commands } from "./commands/index.ts";
import { VersionCommand } from "./commands/version.ts";
import { takesColour } from "./commands/view.ts";

/** Runs dl with these arguments and streams, and returns its exit code. A usage error goes to standard error, with 2. */
export async function run(argv: readonly string[], version: string, context: BaseContext): Promise<number> {
  const cli = new Cli<BaseContext>({
    binaryName: "dl",
    binaryLabel: "dl",
    binaryVersion: version,
    enableCapture: false,
    enableColors: takesColour(context),
  });
  for (const command of [...commands, VersionCommand, Builtins.HelpCommand]) cli.register(command);
  if (argv.length === 0) {
    context.stderr.write(`dl: say what to do: dl --prune, dl --ls or dl --restore. \`dl --help\` says more.\n`);
    return 2;
  }
  let command;
  try {
    command = cli.process([...argv], context);
  } catch (error) {
    context.stderr.write(`dl: ${usageWords(error)}\nRun \`dl --help\` to see what dl takes. Nothing was touched.\n`);
    return 2;
  }
  return cli.run(command, context);
}

/** The first line of what clipanion says of arguments that it does not understand. */
function usageWords(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return (words.split("\n")[0] ?? words).replace("; did you mean one of:", ".");
}
