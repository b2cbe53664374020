/** Which registry is served: one that comes with the service, or a module of the operator's. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting-error.js";
import { minimalRegistry } from "../registry/minimal/index.js";
import type { Registry } from "../registry/sdk/registry.js";
import { utilityRegistry } from "../registry/utility/index.js";

/** Throws SettingError where the configuration names a module that is no registry. */
export async function loadRegistry(config: Config): Promise<Registry> {
  switch (config.registry) {
    case "utility":
      return utility(config);
    case "minimal":
      return minimalRegistry;
    default:
      return moduleAt(config.registry);
  }
}

function utility(config: Config): Registry {
  return utilityRegistry({
    settlementLimits: {
      legs: config.maxLegs,
      allocations: config.maxAllocations,
      instruments: config.maxInstruments,
      accounts: config.maxAccounts,
      parties: config.maxParties,
    },
  });
}

async function moduleAt(path: string): Promise<Registry> {
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(pathToFileURL(resolve(path)).href)) as { readonly default?: unknown };
  } catch (error) {
    throw wrong(`${path} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
  const lacking = lackingOf(loaded.default);
  if (lacking !== undefined) throw wrong(`the default export of ${path} ${lacking}`);
  // What the compiler checks where the module was written has been looked at here.
  return loaded.default as Registry;
}

/** The class of functions that are async has no name of its own. */
const AsyncFunction = (async () => {}).constructor as FunctionConstructor;

const methods = [
  "instruments",
  "transferFactory",
  "allocationFactory",
  "settlementFactory",
  "choiceContext",
  "inventory",
];

/** What keeps a value from being a registry. */
function lackingOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "has to be an object, a Registry";
  const fields = value as Readonly<Record<string, unknown>>;
  if (typeof fields.name !== "string") return "has no name";
  if (!Array.isArray(fields.templates)) return "has no list of templates";
  if (typeof fields.supportedApis !== "object" || fields.supportedApis === null) return "has no supportedApis";
  if (!fields.templates.every(isTemplate)) return "has a template without packageName, qualifiedName or parse";
  const missing = methods.filter((method) => typeof fields[method] !== "function");
  if (missing.length > 0) return `lacks ${missing.join(", ")}`;
  const waiting = methods.filter((method) => fields[method] instanceof AsyncFunction);
  return waiting.length === 0 ? undefined : `has to answer at once, without async: ${waiting.join(", ")}`;
}

function isTemplate(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { packageName, qualifiedName, parse } = value as Readonly<Record<string, unknown>>;
  return typeof packageName === "string" && typeof qualifiedName === "string" && typeof parse === "function";
}

const wrong = (reason: string) =>
  new SettingError("OFFLEDGER_REGISTRY", "utility, minimal, or the path of a JavaScript module", reason);
