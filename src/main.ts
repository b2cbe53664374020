#!/usr/bin/env node
/** Reads the configuration and runs the command. */
import { packageVersion } from "./app/package-files.js";
import { check } from "./cli/check.js";
import { contexts } from "./cli/contexts.js";
import { explain } from "./cli/explain.js";
import { configFailure, fail } from "./cli/failure.js";
import { health } from "./cli/health.js";
import { helpText } from "./cli/help.js";
import { migrate } from "./cli/migrate.js";
import { print } from "./cli/output.js";
import { serve } from "./cli/serve.js";
import { type Command, type Config, readConfig } from "./config/config.js";

const commands: Readonly<Record<Command, (config: Config, argument: string) => Promise<void> | void>> = {
  serve: (config) => serve(config, { mirrors: true, answers: true }),
  mirror: (config) => serve(config, { mirrors: true, answers: false }),
  api: (config) => serve(config, { mirrors: false, answers: true }),
  migrate,
  check,
  contexts,
  explain,
  health,
  help: () => print(helpText()),
  version: () => print(`${packageVersion()}\n`),
};

const read = readConfig(process.argv.slice(2));
if (read.ok) await commands[read.command](read.config, read.argument);
else fail(configFailure(`${read.errors.join("\n")}\n\nSee: offledger help`));
