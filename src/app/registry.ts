/** The configured registry: a built-in one, a file or a module, and what its answers depend on besides contracts. */
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "../config/config.js";
import { settlementLimits } from "../config/limits.js";
import { readInstruments, readSettingFile } from "../config/setting-files.js";
import { SettingError } from "../config/setting.js";
import { packagedRegistries, settings } from "../config/settings.js";
import { checkedRegistry } from "../registry/checked-registry.js";
import { checkExtension } from "../registry/engine/extend.js";
import { checkRegistryFile } from "../registry/engine/file.js";
import type { Table } from "../registry/engine/table-types.js";
import { tableRegistry } from "../registry/engine/table-registry.js";
import { ALL_INSTRUMENTS, type OverridesByInstrument } from "../service/instrument-directory.js";
import type { Registry } from "../registry/sdk/registry.js";
import {
  compileUtility,
  ExtensionError,
  type UtilityContexts,
  type UtilityTable,
  utilityTable,
} from "../registry/utility/contexts.js";
import { utilityRegistry } from "../registry/utility/index.js";
import { isAsyncFunction } from "../util/async.js";
import { errorMessage } from "../util/logger.js";
import { parseOperatorFile } from "../util/operator-file.js";
import { packageFile, packageVersion } from "../util/package-files.js";

const { variable: VARIABLE, accepts: ACCEPTS } = settings.registry;

const registryError = (reason: string): SettingError => new SettingError(VARIABLE, ACCEPTS, reason);

/** What the configured registry is: the Registry Utility with its contexts in force, a table of a file, or a module. */
type Loaded =
  | { readonly kind: "utility"; readonly contexts: UtilityContexts }
  | { readonly kind: "file"; readonly table: Table }
  | { readonly kind: "module"; readonly registry: Registry };

async function load(config: Config): Promise<Loaded> {
  const path = registryFilePath(config);
  if (path === undefined) {
    const module = config.registry === "utility" ? undefined : await loadModule(config.registry);
    if (module === undefined || isExtendedUtility(module))
      // Undefined would mean that there is no module.
      return { kind: "utility", contexts: await loadContexts(config, module && (module.utilityExtension ?? null)) };
    rejectContexts(config);
    return { kind: "module", registry: module };
  }
  const file = await loadRegistryFile(path);
  if (file.kind === "utility") return { kind: "utility", contexts: await readContexts(config, file.base) };
  rejectContexts(config);
  return file;
}

/** Loads the configured registry. Throws SettingError if an operator's file or module cannot be loaded or is wrong. */
export async function loadRegistry(config: Config): Promise<Registry> {
  const loaded = await load(config);
  switch (loaded.kind) {
    case "utility":
      return utilityRegistry({
        contexts: loaded.contexts,
        rejectsUnknownAllocations: config.unknownAllocations === "reject",
        settlementLimits: settlementLimits(config.maxLegs),
      });
    case "file":
      return fromFile(config, loaded.table);
    case "module":
      return checkedRegistry(loaded.registry);
  }
}

/** The rows of each operation that `offledger contexts` prints. Throws SettingError if the registry has no table. */
export async function loadOperations(config: Config): Promise<Table["rows"]> {
  const loaded = await load(config);
  if (loaded.kind === "file") return loaded.table.rows;
  if (loaded.kind === "utility") return loaded.contexts.table.rows;
  throw registryError("only a file, the Registry Utility, or a module that extends it, has a table of operations");
}

/** Undefined for the Registry Utility and for a module. */
function registryFilePath({ registry }: Config): string | undefined {
  if (packagedRegistries.includes(registry)) return packageFile(`#registries/${registry}.yaml`);
  return /\.ya?ml$/.test(registry) ? registry : undefined;
}

async function fromFile(config: Config, table: Table): Promise<Registry> {
  if (table.file.instruments !== "file" && table.file.instruments !== "seen")
    return checkedRegistry(tableRegistry(table));
  const entries = await readInstruments(config.instruments);
  const ids = Array.from(entries, ([registrar, instruments]) => {
    const named = [...instruments.keys()].filter((id) => id !== ALL_INSTRUMENTS);
    return [registrar, named] as const;
  });
  return checkedRegistry(tableRegistry(table, new Map(ids.filter(([, named]) => named.length > 0))));
}

/** What a registry file says, with all that it extends: a table of its own, or that of the Registry Utility. */
type LoadedFile =
  | { readonly kind: "file"; readonly table: Table }
  | { readonly kind: "utility"; readonly base: UtilityTable };

/** Throws SettingError with every mistake of the file, or of one that it extends, its line and column. */
async function loadRegistryFile(path: string, below: readonly string[] = []): Promise<LoadedFile> {
  if (below.includes(path))
    throw registryError(`\n${[...below, path].join(" extends ")}: a file must not extend itself`);
  const base = await readSettingFile(VARIABLE, ACCEPTS, path, (value) => ({ value: extendedBy(value) }));
  if (base === undefined)
    return { kind: "file", table: await readSettingFile(VARIABLE, ACCEPTS, path, checkRegistryFile) };
  const loaded: LoadedFile =
    base === "utility"
      ? { kind: "utility", base: utilityTable() }
      : await loadRegistryFile(baseOf(path, base), [...below, path]);
  const extend = (table: Table) => readSettingFile(VARIABLE, ACCEPTS, path, (file) => checkExtension(table, file));
  return loaded.kind === "file"
    ? { kind: "file", table: await extend(loaded.table) }
    : { kind: "utility", base: { ...loaded.base, table: await extend(loaded.base.table) } };
}

/** The path of what a file extends, which is not the Registry Utility. */
const baseOf = (path: string, base: string): string =>
  base === "standard" ? packageFile("#registries/standard.yaml") : resolve(dirname(path), base);

/** What the parsed content of a registry file extends: `utility`, `standard`, or a path; undefined if it says nothing of it. */
function extendedBy(file: unknown): string | undefined {
  const { extends: base } = fieldsOf(file) ?? {};
  return typeof base === "string" ? base : undefined;
}

/** The fields of an object; undefined for another value. */
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;

/**
 * The choice contexts in force: those of the Registry Utility with the changes of a module and of the operator's file.
 * Throws SettingError with every problem; nothing is used of a file that has one. `extension` is what the module exports,
 * unchecked.
 */
export async function loadContexts(config: Config, extension?: unknown): Promise<UtilityContexts> {
  try {
    return await readContexts(config, utilityTable(extension));
  } catch (error) {
    if (!(error instanceof ExtensionError)) throw error;
    throw registryError(`\n${error.problems.map((problem) => `${config.registry}: ${problem}`).join("\n")}`);
  }
}

async function readContexts({ contexts: path }: Config, base: UtilityTable): Promise<UtilityContexts> {
  if (path === undefined) return compileUtility(base);
  const accepts = "the path of a YAML file of choice contexts";
  const table = await readSettingFile("OFFLEDGER_CONTEXTS", accepts, path, (file) => checkExtension(base.table, file));
  return compileUtility({ ...base, table });
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

const isExtendedUtility = (loaded: object): loaded is Extended => "utilityExtension" in loaded;

async function loadModule(path: string): Promise<Registry | Extended> {
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(pathToFileURL(resolve(path)).href)) as { readonly default?: unknown };
  } catch (error) {
    throw registryError(`${path} cannot be loaded: ${errorMessage(error)}`);
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
  const fields = fieldsOf(value);
  if (fields === undefined) return "must be an object that implements Registry";
  if (typeof fields.name !== "string") return "has no name";
  if (!Array.isArray(fields.templates)) return "has no list of templates";
  if (fieldsOf(fields.supportedApis) === undefined) return "has no supportedApis";
  if (!fields.templates.every(isTemplate)) return "has a template without packageName, qualifiedName or parse";
  if (fields.checks !== undefined && !(Array.isArray(fields.checks) && fields.checks.every(isCheck)))
    return "has a check without template or warnings";
  const missing = methods.filter((method) => typeof fields[method] !== "function");
  if (missing.length > 0) return `lacks ${missing.join(", ")}`;
  const async = methods.filter((method) => isAsyncFunction(fields[method]));
  return async.length === 0 ? undefined : `has async methods, which must be synchronous: ${async.join(", ")}`;
}

function isCheck(value: unknown): boolean {
  const { template, warnings } = fieldsOf(value) ?? {};
  return isTemplate(template) && typeof warnings === "function";
}

function isTemplate(value: unknown): boolean {
  const { packageName, qualifiedName, parse } = fieldsOf(value) ?? {};
  return typeof packageName === "string" && typeof qualifiedName === "string" && typeof parse === "function";
}

/** A module, or a registry file with those that it extends, which were read before. */
async function readWithBases(path: string): Promise<readonly string[]> {
  const content = await readFile(path, "utf8");
  if (!/\.ya?ml$/.test(path)) return [content];
  const { value: base } = parseOperatorFile(content, (file) => ({ value: extendedBy(file) }));
  return base === undefined || base === "utility" ? [content] : [content, ...(await readWithBases(baseOf(path, base)))];
}

/**
 * Identifies all that answers depend on besides the contracts. Processes with the same id give the same answers from the
 * same state. Of a registry module only its own file counts, not what it imports.
 */
export async function configurationId(config: Config, overrides: OverridesByInstrument): Promise<string> {
  const { registry, contexts, totalSupply, keepHoldings, registrars = [] } = config;
  const { maxLegs, unknownAllocations } = config;
  const isOwn = registry !== "utility" && !packagedRegistries.includes(registry);
  const parts = [
    packageVersion(),
    isOwn ? await readWithBases(registry) : registry,
    contexts === undefined ? null : await readFile(contexts, "utf8"),
    [...overrides].map(([registrar, instruments]) => [registrar, [...instruments]]),
    totalSupply,
    keepHoldings,
    registrars.toSorted(),
    [maxLegs, unknownAllocations],
  ];
  return hash("sha256", JSON.stringify(parts), "base64url").slice(0, 11);
}
