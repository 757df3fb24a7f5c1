import { Command } from "clipanion";

/** `dl --version`. Our own, because the builtin takes `-v`, which is `--verbose` here. */
export class VersionCommand extends Command {
  static override paths = [["--version"]];

  override async execute(): Promise<void> {
    this.context.stdout.write(`${this.cli.binaryVersion ?? "<unknown>"}\n`);
  }
}
