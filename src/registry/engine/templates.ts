/** The templates of a registry file: what is read of each contract when it is stored, and how it is found. */
import type { JsonObject, JsonValue } from "../../domain/json.js";
import { parseLedgerTime } from "../../domain/ledger-time.js";
import { indexKey, type SupplyContribution, type Template } from "../../domain/template.js";
import { type Account, accountOf, NO_OWNER } from "../sdk/accounts.js";
import { JsonReader, parseDecimal } from "../sdk/json-reader.js";
import type { Instrument } from "../sdk/instruments.js";
import type { RegistryFile, TemplateDefinition } from "./definition.js";
import { textAt, textsAt, valuesAt } from "./paths.js";

/** Values by the name of a role. */
export type Named<T> = Readonly<Record<string, readonly T[]>>;

/** What the engine keeps of a contract. */
export interface TableFields {
  readonly registrar: string | undefined;
  readonly roles: Named<string>;
  readonly accounts: Named<Account>;
  readonly refs: Named<string>;
  readonly instruments: readonly string[];
  /** In microseconds since 1970; undefined if it has always been valid, or does not end. */
  readonly from: number | undefined;
  readonly until: number | undefined;
  /** What `newest` orders by; undefined counts as the highest. */
  readonly rank: number | undefined;
  /** The instruments that the registry lists because of it. */
  readonly listed: readonly Instrument[];
}

export type TableTemplate = Template<TableFields>;

/** The key under which contracts with these values at these paths are found. Without paths: all of a registrar. */
export const lookupKey = (paths: readonly string[], registrar: string, values: readonly string[]): string =>
  indexKey(`table/${paths.join("&")}`, registrar, ...values);

/** An account as text. */
export const accountKey = ({ owner, provider, id }: Account): string =>
  JSON.stringify([owner ?? null, provider ?? null, id]);

/** By their names in the file. */
export function tableTemplates(file: RegistryFile): ReadonlyMap<string, TableTemplate> {
  return new Map(
    Object.entries(file.templates).map(([name, definition]) => [name, tableTemplate(file, name, definition)]),
  );
}

function tableTemplate(file: RegistryFile, name: string, definition: TemplateDefinition): TableTemplate {
  const finds = [file.factory, ...Object.values(file.entries ?? {})].filter(({ template }) => template === name);
  const indexes = new Map(finds.map(({ find = {} }) => [Object.keys(find).join("&"), Object.keys(find)]));
  // Instruments are listed by the registrar alone.
  indexes.set("", []);
  const { instruments } = file;
  const listed =
    typeof instruments === "object" && !Array.isArray(instruments) && instruments.template === name
      ? instruments
      : undefined;
  const { at, keep, supply } = definition;
  const unwrap = (payload: JsonObject): JsonValue => (at === undefined ? payload : (valuesAt(payload, at)[0] ?? {}));
  return {
    packageName: definition.package ?? file.package,
    qualifiedName: `${file.module ?? ""}${definition.name}`,
    // Whatever changes it changes what is stored.
    revision: JSON.stringify([definition, [...indexes.keys()], listed]),
    registrarOf: ({ registrar }) => registrar,
    parse(payload) {
      const content = unwrap(payload);
      if (keep !== undefined && valuesAt(content, keep).length === 0) return undefined;
      const fields = fieldsOf(definition, content, listed === undefined ? [] : instrumentsOf(listed, content));
      const keys = [...indexes.values()].flatMap((paths) => keysOf(paths, fields.registrar ?? "", content));
      return { fields, indexKeys: [...new Set(keys)] };
    },
    ...(supply !== undefined && {
      supplyContribution: (payload: JsonObject) => contribution(definition, supply, unwrap(payload)),
    }),
  };
}

const list = (paths: string | readonly string[]): readonly string[] => (typeof paths === "string" ? [paths] : paths);

function named<T>(definition: Record<string, string | string[]> | undefined, read: (path: string) => T[]): Named<T> {
  return Object.fromEntries(Object.entries(definition ?? {}).map(([name, paths]) => [name, list(paths).flatMap(read)]));
}

/** Where the payload of an instruction of the token standard has its parties, unless the file says otherwise. */
const STANDARD_ROLES: Readonly<Record<string, Record<string, string[]>>> = {
  "transfer-instruction": { sender: ["transfer.sender"], receiver: ["transfer.receiver"] },
  allocation: {
    sender: ["allocation.transferLeg.sender"],
    receiver: ["allocation.transferLeg.receiver"],
    executor: ["allocation.settlement.executor", "settlement.executors.*"],
  },
};
const STANDARD_INSTRUMENTS = ["transfer.instrumentId.id", "allocation.transferLeg.instrumentId.id"];

function fieldsOf(definition: TemplateDefinition, payload: JsonValue, listed: readonly Instrument[]): TableFields {
  const { registrar, choices, from, until, newest } = definition;
  const party = registrar === undefined ? undefined : textAt(payload, registrar);
  const admin = party ?? "";
  if (registrar !== undefined && party === undefined) throw new Error(`${registrar}, the registrar, is missing`);
  const roles = { ...(choices === undefined ? {} : STANDARD_ROLES[choices]), ...definition.roles };
  const instruments = definition.instrument ?? (choices === undefined ? [] : STANDARD_INSTRUMENTS);
  return {
    registrar: party,
    roles: named(roles, (path) => valuesAt(payload, path).map((value) => partyIn(value, admin, path))),
    accounts: named(definition.accounts, (path) =>
      valuesAt(payload, path).map((value) => accountIn(value, admin, path)),
    ),
    refs: named(definition.refs, (path) => textsAt(payload, path)),
    instruments: list(instruments).flatMap((path) => textsAt(payload, path)),
    from: from === undefined ? undefined : timeAt(payload, from),
    until: until === undefined ? undefined : timeAt(payload, until),
    rank: newest === undefined ? undefined : rankAt(payload, newest),
    listed,
  };
}

/** An account, or a party of version 1, which is an account without provider. */
function accountIn(value: JsonValue, admin: string, path: string): Account {
  if (typeof value === "string")
    return value === NO_OWNER
      ? { owner: undefined, provider: undefined, id: "", party: admin, isSpecial: true }
      : { owner: value, provider: undefined, id: "", party: value, isSpecial: false };
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`${path} must be an account`);
  return accountOf(new JsonReader(value, path), admin);
}

const partyIn = (value: JsonValue, admin: string, path: string): string => accountIn(value, admin, path).party;

function timeAt(payload: JsonValue, path: string): number | undefined {
  const text = textAt(payload, path);
  return text === undefined ? undefined : parseLedgerTime(text);
}

/** A number or a time as a number. */
function rankAt(payload: JsonValue, path: string): number | undefined {
  const text = textAt(payload, path);
  if (text === undefined) return undefined;
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : parseLedgerTime(text);
}

/** Every combination of the values at the paths; none for a contract that lacks one. */
function keysOf(paths: readonly string[], registrar: string, payload: JsonValue): string[] {
  let combinations: string[][] = [[]];
  for (const path of paths) {
    const values = valuesAt(payload, path).map((value) => indexText(value, registrar, path));
    combinations = combinations.flatMap((before) => values.map((value) => before.concat(value)));
  }
  return combinations.map((values) => lookupKey(paths, registrar, values));
}

const indexText = (value: JsonValue, admin: string, path: string): string =>
  typeof value === "string" ? value : accountKey(accountIn(value, admin, path));

type ListedInstruments = Exclude<RegistryFile["instruments"], string | string[]>;

function instrumentsOf(listed: ListedInstruments, payload: JsonValue): Instrument[] {
  if ("list" in listed) {
    // A list of ids, or of objects that have one.
    return valuesAt(payload, listed.list)
      .flatMap((value) => (Array.isArray(value) ? value : [value]))
      .map((value) => ({ id: textAt(value, "id") ?? textOf(value, listed.list), otherIds: [] }));
  }
  const optional = (path: string | undefined) => (path === undefined ? undefined : textAt(payload, path));
  const id = textAt(payload, listed.id);
  if (id === undefined) return [];
  const decimals = optional(listed.decimals);
  return [
    {
      id,
      otherIds: [],
      name: optional(listed.name),
      symbol: optional(listed.symbol),
      decimals: decimals !== undefined && /^(?:\d|10)$/.test(decimals) ? Number(decimals) : undefined,
    },
  ];
}

function textOf(value: JsonValue, path: string): string {
  if (typeof value === "string") return value;
  throw new Error(`${path} must be a list of texts, or of objects with an id`);
}

function contribution(
  { registrar = "" }: TemplateDefinition,
  { instrument, amount }: NonNullable<TemplateDefinition["supply"]>,
  payload: JsonValue,
): SupplyContribution {
  const [party, id] = [textAt(payload, registrar) ?? "", textAt(payload, instrument)];
  const units = parseDecimal(textAt(payload, amount) ?? "");
  if (id === undefined || units === undefined)
    throw new Error(`${instrument} and ${amount} must be an instrument and a decimal`);
  return { sum: supplyOf(party, id), amount: units };
}

/** The name of the sum. */
export const supplyOf = (registrar: string, instrument: string): string => indexKey("supply", registrar, instrument);
