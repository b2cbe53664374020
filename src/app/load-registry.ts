import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "../config/config.js";
import { readInstruments, readSettingFile } from "../config/setting-files.js";
import { SettingError } from "../config/setting.js";
import { checkedRegistry } from "../registry/checked-registry.js";
import { checkRegistryFile, type RegistryFile } from "../registry/engine/definition.js";
import { tableRegistry } from "../registry/engine/table-registry.js";
import type { Registry } from "../registry/sdk/registry.js";
import type { UtilityContexts } from "../registry/utility/contexts.js";
import { utilityRegistry } from "../registry/utility/index.js";
import { isAsyncFunction } from "../util/async.js";
import { packageFile } from "../util/package-files.js";
import { loadContexts, REGISTRY_ACCEPTS, registryError } from "./load-contexts.js";

/** Loads the configured registry. Throws SettingError if an operator's module cannot be loaded or is no registry. */
export async function loadRegistry(config: Config): Promise<Registry> {
  if (config.registry === "utility") return createUtilityRegistry(config);
  const path = registryFilePath(config);
  if (path === undefined) return fromModule(config, await loadModule(config.registry));
  rejectContexts(config);
  return fromFile(config, await loadRegistryFile(path));
}

/** Undefined for the Registry Utility and for a module. */
export function registryFilePath({ registry }: Config): string | undefined {
  if (registry === "minimal") return packageFile("#registries/minimal.yaml");
  return /\.ya?ml$/.test(registry) ? registry : undefined;
}

async function fromFile(config: Config, file: RegistryFile): Promise<Registry> {
  if (file.instruments !== "file") return checkedRegistry(tableRegistry(file));
  const entries = await readInstruments(config.instruments);
  return checkedRegistry(
    tableRegistry(file, { instrumentsOf: (registrar) => [...(entries.get(registrar)?.keys() ?? [])] }),
  );
}

/** Throws SettingError with every mistake of the file, its line and its column. */
export const loadRegistryFile = (path: string): Promise<RegistryFile> =>
  readSettingFile("OFFLEDGER_REGISTRY", REGISTRY_ACCEPTS, path, checkRegistryFile);

/** The contexts that `offledger contexts` prints. Throws SettingError if the registry is not the Registry Utility. */
export async function loadUtilityContexts(config: Config): Promise<UtilityContexts> {
  if (config.registry === "utility") return loadContexts(config);
  const loaded = await loadModule(config.registry);
  if (isExtendedUtility(loaded)) return loadContexts(config, extensionOf(loaded));
  throw registryError("only the Registry Utility, or a module that extends it, has a table of contexts");
}

async function createUtilityRegistry(config: Config, extension?: unknown): Promise<Registry> {
  return utilityRegistry({
    contexts: await loadContexts(config, extension),
    rejectsUnknownAllocations: config.unknownAllocations === "reject",
    settlementLimits: {
      legs: config.maxLegs,
      allocations: config.maxAllocations,
      instruments: config.maxInstruments,
      accounts: config.maxAccounts,
      parties: config.maxParties,
    },
  });
}

async function fromModule(config: Config, loaded: Registry | Extended): Promise<Registry> {
  if (isExtendedUtility(loaded)) return createUtilityRegistry(config, extensionOf(loaded));
  rejectContexts(config);
  return checkedRegistry(loaded);
}

/** A wrong setting must not go unnoticed. */
function rejectContexts({ contexts, registry }: Config): void {
  if (contexts === undefined) return;
  throw new SettingError("OFFLEDGER_CONTEXTS", "unset", `the registry ${registry} has no table of contexts`);
}

/** The result of `extendUtility`, whose extension `loadContexts` checks. */
interface Extended {
  readonly utilityExtension: unknown;
}

/** Undefined would mean that there is no module. */
const extensionOf = ({ utilityExtension }: Extended): unknown => utilityExtension ?? null;

const isExtendedUtility = (loaded: object): loaded is Extended => "utilityExtension" in loaded;

async function loadModule(path: string): Promise<Registry | Extended> {
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(pathToFileURL(resolve(path)).href)) as { readonly default?: unknown };
  } catch (error) {
    throw registryError(`${path} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { default: exported } = loaded;
  if (typeof exported === "object" && exported !== null && isExtendedUtility(exported)) return exported;
  const defect = findDefect(exported);
  if (defect !== undefined) throw registryError(`the default export of ${path} ${defect}`);
  // findDefect checked its shape; the compiler checks its types where the module is written.
  return exported as Registry;
}

const methods = [
  "instruments",
  "transferFactory",
  "allocationFactory",
  "settlementFactory",
  "choiceContext",
  "inventory",
];

/** Why a value is not a registry, as a predicate of a sentence; undefined if it is one. */
function findDefect(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "must be an object that implements Registry";
  const fields = value as Readonly<Record<string, unknown>>;
  if (typeof fields.name !== "string") return "has no name";
  if (!Array.isArray(fields.templates)) return "has no list of templates";
  if (typeof fields.supportedApis !== "object" || fields.supportedApis === null) return "has no supportedApis";
  if (!fields.templates.every(isTemplate)) return "has a template without packageName, qualifiedName or parse";
  if (fields.checks !== undefined && !isListOfChecks(fields.checks)) return "has a check without template or warnings";
  const missing = methods.filter((method) => typeof fields[method] !== "function");
  if (missing.length > 0) return `lacks ${missing.join(", ")}`;
  const async = methods.filter((method) => isAsyncFunction(fields[method]));
  return async.length === 0 ? undefined : `has async methods, which must be synchronous: ${async.join(", ")}`;
}

function isListOfChecks(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  return value.every((check: unknown) => {
    if (typeof check !== "object" || check === null) return false;
    const { template, warnings } = check as Readonly<Record<string, unknown>>;
    return isTemplate(template) && typeof warnings === "function";
  });
}

function isTemplate(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { packageName, qualifiedName, parse } = value as Readonly<Record<string, unknown>>;
  return typeof packageName === "string" && typeof qualifiedName === "string" && typeof parse === "function";
}
