import { LsCommand } from "./ls.ts";
import { PruneCommand } from "./prune.ts";
import { RestoreCommand } from "./restore.ts";

/** The one list that the program and every host register. */
export const commands = [PruneCommand, LsCommand, RestoreCommand] as const;
