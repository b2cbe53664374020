/** The templates of a table: what is read of each contract when it is stored, and how it is found. */
import { parseDecimal } from "../../domain/decimal.js";
import { formatValue } from "../../domain/errors.js";
import { isObject, type JsonObject, type JsonValue, parseLedgerTime } from "../../util/json.js";
import { indexKey, type SupplyContribution, type Tally, type Template } from "../../domain/template.js";
import type { ShownContract } from "../../domain/token-interfaces.js";
import { type Account, accountIn } from "../account.js";
import type { Instrument } from "../sdk/registry.js";
import {
  type EntryDefinition,
  factoriesOf,
  type InstrumentsDefinition,
  type RegistryFile,
  type TemplateDefinition,
} from "./grammar.js";
import { textAt, textsAt, valuesAt } from "./paths.js";
import { interfacesOf, Views } from "./views.js";

/** Values by the name of a role. */
export type Named<T> = Readonly<Record<string, readonly T[]>>;

/** What is kept of a contract. Further fields are those of a table's times, order and instruments. */
export interface TableFields {
  readonly registrar: string | undefined;
  /** Parties by role. A special account has none. */
  readonly roles: Named<string>;
  /** Contract ids by what they are of. */
  readonly refs: Named<string>;
  readonly instruments: readonly string[];
  /** When it can no longer be accepted or executed, in microseconds since 1970; undefined if it always can. */
  readonly deadline?: number | undefined;
  readonly accounts?: Named<Account> | undefined;
  readonly flags?: Readonly<Record<string, boolean>> | undefined;
  /** In microseconds since 1970; undefined if it has always been valid, or does not end. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  /** What `newest` orders by; undefined counts as the highest. */
  readonly rank?: number | undefined;
  /** The interfaces that it shows, as `allocation/2`. */
  readonly interfaces?: readonly string[] | undefined;
  /** What its view of version 2 says that somebody may do with it, as `accept`; undefined if it says nothing. */
  readonly actions?: readonly string[] | undefined;
  /** The instruments that the registry lists because of it. */
  readonly listed?: readonly Instrument[] | undefined;
}

export interface TableTemplate extends Template<TableFields> {
  /** Whether only its registrar's answers may use a contract. */
  readonly hasRegistrar: boolean;
  /** The key of all contracts of a registrar. */
  keyOf(registrar: string): string;
  /** Begins the codes of errors about it; undefined for `contract`. */
  readonly kind: string | undefined;
  /** In microseconds before its end. */
  readonly margin: number;
  /** Whether the one with the highest value counts, and not the newest. */
  readonly isRanked: boolean;
}

/** A table as far as its templates depend on it. */
export interface TemplatesFile {
  /** With their packages and full names. */
  readonly templates: Readonly<Record<string, TemplateDefinition>>;
  readonly entries?: Readonly<Record<string, EntryDefinition>> | undefined;
  readonly factory?: RegistryFile["factory"] | undefined;
  readonly instruments?: InstrumentsDefinition | undefined;
  readonly versions?: RegistryFile["versions"];
  /** Whether the instruments file names some: then those that are seen are not listed. */
  readonly namesInstruments?: boolean;
}

/** The party in a role, of which a contract has one. */
export const roleOf = ({ roles }: Pick<TableFields, "roles">, role: string): string | undefined => roles[role]?.[0];

/** The key under which contracts with these values at these paths are found. Without paths: all of a registrar. */
export const lookupKey = (paths: readonly string[], registrar: string, values: readonly string[]): string =>
  indexKey(`table/${paths.join("&")}`, registrar, ...values);

/** Most requests are about one registrar: a key that was used before is found without its text being read again. */
function keyOfRegistrar(): (registrar: string) => string {
  let latest = "";
  let key = lookupKey([], latest, []);
  return (registrar) => {
    if (registrar !== latest) [latest, key] = [registrar, lookupKey([], registrar, [])];
    return key;
  };
}

/** An account as text. */
export const accountKey = ({ owner, provider, id }: Account): string =>
  JSON.stringify([owner ?? null, provider ?? null, id]);

/** By their names in the file. */
export function tableTemplates(file: TemplatesFile): ReadonlyMap<string, TableTemplate> {
  return new Map(
    Object.entries(file.templates).map(([name, definition]) => [name, tableTemplate(file, name, definition)]),
  );
}

function tableTemplate(file: TemplatesFile, name: string, definition: TemplateDefinition): TableTemplate {
  const { factory, instruments } = file;
  const factories = factory === undefined ? [] : [...factoriesOf(factory).values()];
  const finds = [...factories, ...Object.values(file.entries ?? {})].filter(
    (one) => one.template === name && !("byId" in one && one.byId !== undefined),
  );
  // Their order in the file does not matter to what is stored.
  const all = finds.map((one) => Object.keys(one.find ?? {})).toSorted((a, b) => (a.join() < b.join() ? -1 : 1));
  const indexes = new Map(all.map((paths) => [paths.join("&"), paths]));
  const listed =
    typeof instruments === "object" && "template" in instruments && instruments.template === name
      ? instruments
      : undefined;
  // Instruments and registrars are listed by the registrar alone.
  if (listed !== undefined || factories.some((one) => one.template === name)) indexes.set("", []);
  const { at, name: entity, implements: implemented } = definition;
  const interfaces = interfacesOf(definition);
  const views = interfaces.length === 0 ? undefined : new Views(definition);
  const contentOf = (payload: JsonObject, shown: ShownContract | undefined): [TemplateDefinition, JsonValue] => {
    const content = at === undefined ? payload : (valuesAt(payload, at)[0] ?? {});
    return views === undefined ? [definition, content] : views.read(isObject(content) ? content : {}, shown);
  };
  const isReadById = definition.read !== undefined;
  const isTallied = instruments === "seen" || file.versions === "seen";
  const isSigned = entity === undefined || definition.signed !== undefined;
  const hasSupply = definition.supply !== undefined || interfaces.some(({ kind }) => kind === "holding");
  const isCounted = isReadById && hasSupply && instruments === "seen" && file.namesInstruments !== true;
  const contributionOf = contributions(isCounted);
  return {
    packageName: entity === undefined ? "" : (definition.package ?? ""),
    qualifiedName: entity ?? String(implemented),
    ...(views !== undefined && { interfaces }),
    ...(isReadById && { isReadById, isCounted }),
    ...(isSigned && {
      signerOf(payload: JsonObject, shown?: ShownContract) {
        const [{ registrar = "" }, content] = contentOf(payload, shown);
        return textAt(content, registrar);
      },
    }),
    hasRegistrar: definition.registrar !== undefined || views !== undefined,
    keyOf: keyOfRegistrar(),
    kind: definition.kind,
    margin: (definition.margin ?? 0) * 1_000_000,
    isRanked: definition.newest !== undefined,
    // Whatever changes it changes what is stored.
    revision: JSON.stringify([definition, [...indexes.keys()], listed, isCounted]),
    registrarOf: ({ registrar }) => registrar,
    parse(payload, shown) {
      const [form, content] = contentOf(payload, shown);
      if (form.keep !== undefined && valuesAt(content, form.keep).length === 0) return undefined;
      const fields = fieldsOf(form, content, listed, shown && views?.shownBy(shown));
      const keys = [...indexes.values()].flatMap((paths) => keysOf(paths, fields.registrar ?? "", content));
      return { fields, indexKeys: [...new Set(keys)], isOptional: isReadById };
    },
    ...(isTallied && { tally: talliesOf }),
    ...(hasSupply && {
      supplyContribution: (payload: JsonObject, shown?: ShownContract) => contributionOf(...contentOf(payload, shown)),
    }),
  };
}

/** The instruments that contracts of a registrar name, and the interfaces that they implement. */
export const tallyGroup = (kind: "instruments" | "interfaces", registrar: string): string => `${kind} ${registrar}`;

const talliesOf = ({ registrar = "", instruments, interfaces = [] }: TableFields): Tally[] => [
  ...[...new Set(instruments)].map((name) => ({ group: tallyGroup("instruments", registrar), name })),
  ...interfaces.map((name) => ({ group: tallyGroup("interfaces", registrar), name })),
];

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

const NONE: Named<never> = {};

function fieldsOf(
  definition: TemplateDefinition,
  payload: JsonValue,
  listed: ListedInstruments | undefined,
  views: Pick<TableFields, "interfaces" | "actions"> | undefined,
): TableFields {
  const { registrar, choices, accounts, refs, flags, from, until, deadline, newest } = definition;
  for (const path of [...list(definition.requires ?? []), ...(registrar === undefined ? [] : [registrar])])
    if (valuesAt(payload, path).every((value) => value === "")) throw new Error(`${path} must not be empty or missing`);
  const party = registrar === undefined ? undefined : textAt(payload, registrar);
  const admin = party ?? "";
  const standard = choices === undefined ? undefined : STANDARD_ROLES[choices];
  const roles = standard === undefined ? definition.roles : { ...standard, ...definition.roles };
  const instruments = definition.instrument ?? (standard === undefined ? [] : STANDARD_INSTRUMENTS);
  const timeAt = (path: string | undefined) => {
    const text = path === undefined ? undefined : textAt(payload, path);
    return text === undefined ? undefined : parseLedgerTime(text);
  };
  return {
    registrar: party,
    roles: named(roles, (path) => partiesAt(payload, path, admin)),
    refs: named(refs, (path) => textsAt(payload, path)),
    instruments: list(instruments).flatMap((path) => textsAt(payload, path)),
    deadline: timeAt(deadline),
    accounts: accounts && named(accounts, (path) => accountsAt(payload, path, admin)),
    flags: flags && flagsAt(payload, flags),
    from: timeAt(from),
    until: timeAt(until),
    rank: newest === undefined ? undefined : rankAt(payload, newest),
    interfaces: views?.interfaces,
    actions: views?.actions,
    listed: listed && instrumentsOf(listed, payload),
  };
}

const list = (paths: string | readonly string[]): readonly string[] => (typeof paths === "string" ? [paths] : paths);

function named<T>(definition: TemplateDefinition["roles"], read: (path: string) => T[]): Named<T> {
  if (definition === undefined) return NONE;
  const found: Record<string, T[]> = {};
  for (const [name, paths] of Object.entries(definition))
    found[name] = typeof paths === "string" ? read(paths) : paths.flatMap(read);
  return found;
}

/** Accounts of version 2 of the token standard, or parties of version 1, whose accounts the `meta` beside them may say. */
function accountsAt(payload: JsonValue, path: string, admin: string): Account[] {
  const end = path.lastIndexOf(".");
  const name = path.slice(end + 1);
  const read = (value: JsonObject, field: string, at: string) => accountIn(value, field, admin, at);
  // An element of a list, or what a function makes, has nothing beside it.
  if (!/^\w+$/.test(name)) return valuesAt(payload, path).map((value) => read({ [path]: value }, path, ""));
  const parent = end < 0 ? "" : path.slice(0, end);
  const holders = end < 0 ? [payload] : valuesAt(payload, parent);
  const accounts: Account[] = [];
  // What has a field is an object.
  for (const value of holders)
    if (valuesAt(value, name).length > 0) accounts.push(read(value as JsonObject, name, parent));
  return accounts;
}

/** A special account has no party. */
const partiesAt = (payload: JsonValue, path: string, admin: string): string[] =>
  accountsAt(payload, path, admin).flatMap(({ party, isSpecial }) => (isSpecial ? [] : party));

/** Those that are there. */
const flagsAt = (payload: JsonValue, flags: Readonly<Record<string, string>>): Readonly<Record<string, boolean>> =>
  Object.fromEntries(
    Object.entries(flags).flatMap(([name, path]) =>
      valuesAt(payload, path).map((value) => {
        if (typeof value !== "boolean") throw new Error(`${path} must be a boolean`);
        return [name, value] as const;
      }),
    ),
  );

/** A number or a time as a number: the nearest that is finite. */
function rankAt(payload: JsonValue, path: string): number | undefined {
  const text = textAt(payload, path);
  if (text === undefined) return undefined;
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) return parseLedgerTime(text);
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(text)));
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

function indexText(value: JsonValue, admin: string, path: string): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object") throw new Error(`${path} must be a text or an account, but is ${formatValue(value)}`);
  return accountKey(accountIn({ [path]: value }, path, admin, ""));
}

type ListedInstruments = Exclude<InstrumentsDefinition, string | string[]>;

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

/** Most holdings are of one instrument: they share what names it. `isTallied`: whether the instrument is seen by them. */
function contributions(isTallied: boolean) {
  let latest = { party: "", id: "", sum: supplyOf("", ""), tally: undefined as Tally | undefined };
  return ({ registrar = "", supply }: TemplateDefinition, payload: JsonValue): SupplyContribution => {
    const { instrument = "", amount: path = "" } = supply ?? {};
    const [party = "", id] = [textAt(payload, registrar), textAt(payload, instrument)];
    const amount = parseDecimal(textAt(payload, path) ?? "");
    if (id === undefined || amount === undefined)
      throw new Error(`${instrument} and ${path} must be an instrument and a decimal`);
    if (latest.party !== party || latest.id !== id) {
      const tally = isTallied ? { group: tallyGroup("instruments", party), name: id } : undefined;
      latest = { party, id, sum: supplyOf(party, id), tally };
    }
    const { sum, tally } = latest;
    return { sum, amount, tally };
  };
}

/** The name of the sum. */
export const supplyOf = (registrar: string, instrument: string): string => indexKey("supply", registrar, instrument);
