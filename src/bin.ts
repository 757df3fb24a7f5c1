#!/usr/bin/env node
import { Cli } from "clipanion";
import { run } from "./cli.ts";
import { VERSION } from "./version.ts";

process.exitCode = await run(process.argv.slice(2), VERSION, Cli.defaultContext);
