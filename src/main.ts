#!/usr/bin/env node
/** Reads the configuration and runs the command. */
import { configFailure, fail, print } from "./cli/output.js";
import type { Roles } from "./cli/serve.js";
import { type Command, type Config, CONFORMANCE, readConfig } from "./config/config.js";

type Run = (config: Config, argument: string) => Promise<void> | void;

/** Each loads only its own modules: a container runs the health check every few seconds. */
const commands: Readonly<Record<Command, () => Promise<Run>>> = {
  serve: () => serving({ mirrors: true, answers: true }),
  mirror: () => serving({ mirrors: true, answers: false }),
  api: () => serving({ mirrors: false, answers: true }),
  migrate: async () => (await import("./cli/migrate.js")).migrate,
  check: async () => (await import("./cli/check.js")).check,
  contexts: async () => (await import("./cli/registry.js")).contexts,
  registry: async () => (await import("./cli/registry.js")).registryTest,
  explain: async () => (await import("./cli/explain.js")).explain,
  health: async () => (await import("./cli/health.js")).health,
  help: async () => {
    const { helpText } = await import("./cli/help.js");
    return () => print(helpText());
  },
  version: async () => {
    const { packageVersion } = await import("./util/package-files.js");
    return () => print(`${packageVersion()}\n`);
  },
};

async function serving(roles: Roles): Promise<Run> {
  const { serve } = await import("./cli/serve.js");
  return (config) => serve(config, roles);
}

const [name, ...args] = process.argv.slice(2);
const read = name === CONFORMANCE ? undefined : readConfig(process.argv.slice(2));
if (read === undefined) {
  // It asks any registry, not this service.
  const { conformance } = await import("../packages/conformance/src/command.js");
  process.exitCode = await conformance(args);
} else if (read.ok) {
  if (read.warnings.length > 0) {
    const { pino } = await import("pino");
    const log = pino({}, process.stderr);
    for (const warning of read.warnings) log.warn(warning);
  }
  const run = await commands[read.command]();
  await run(read.config, read.argument);
} else fail(configFailure(`${read.errors.join("\n")}\n\nSee: offledger help`));
