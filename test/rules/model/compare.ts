/** Sends a request of the model to the registry, and compares the answer with the model's. */
import { RegistryError } from "../../../src/domain/errors.js";
import type { QueryExecutor } from "../../../src/registry/executor.js";
import { supportedApisOf } from "../../../src/registry/instrument-directory.js";
import type { Recording } from "../../../src/registry/recorder.js";
import type {
  AnyValue,
  ContextAnswer,
  Contract,
  NamedValue,
  Registry,
  RequestContext,
  UtilityOperations,
} from "../../../src/registry/sdk/registry.js";
import { distinct } from "./arguments.js";
import type { CredentialChoice } from "./credentials.js";
import type { Expected, ExpectedContext, ExpectedValue, Request, Status } from "./requests.js";

/** A context value: contract ids and flags without their tags, which `untagged` has checked. */
export type Value = string | boolean | readonly Value[] | ReadonlyMap<string, Value>;

export type Actual =
  | { readonly status: 400 | 404 | 409; readonly message: string }
  | { readonly status: 200; readonly answer: ActualAnswer };

export interface ActualAnswer {
  readonly factoryId?: string;
  readonly transferKind?: string;
  /** In order. */
  readonly values?: readonly { readonly key: string; readonly value: Value }[];
  /** Contract ids, in order. */
  readonly disclosed?: readonly string[];
  readonly contractIds?: readonly string[];
  readonly instruments?: readonly { readonly id: string; readonly paused: boolean }[];
  readonly supportedApis?: Readonly<Record<string, number>>;
  readonly party?: string;
}

const statusOf: Readonly<Record<string, Status>> = { invalid: 400, "not-found": 404, conflict: 409 };

const created = {
  "mint-offer/create": "mint-offer",
  "mint-request/create": "mint-request",
  "burn-offer/create": "burn-offer",
  "burn-request/create": "burn-request",
} as const;

/** Throws an error that is no RegistryError, and one that a client could not have caused. */
export async function execute(executor: QueryExecutor, request: Request, recording?: Recording): Promise<Actual> {
  try {
    return { status: 200, answer: await send(executor, request, recording) };
  } catch (error) {
    const status = error instanceof RegistryError ? statusOf[error.reason] : undefined;
    if (!(error instanceof RegistryError) || status === undefined) throw error;
    return { status, message: error.message };
  }
}

async function send(executor: QueryExecutor, request: Request, recording?: Recording): Promise<ActualAnswer> {
  const ask = async <T>(query: (registry: Registry, context: RequestContext) => T): Promise<T> =>
    (await executor.execute(query, recording)).value;
  const askUtility = async <T>(query: (utility: UtilityOperations, context: RequestContext) => T): Promise<T> =>
    (await executor.executeUtility(query, recording)).value;
  switch (request.operation) {
    case "transfer-factory":
      return factoryOf(await ask((registry, context) => registry.transferFactory(context, request)));
    case "allocation-factory":
      return factoryOf(await ask((registry, context) => registry.allocationFactory(context, request)));
    case "settlement-factory":
      return factoryOf(await ask((registry, context) => registry.settlementFactory(context, request)));
    case "mint-offer/create":
    case "mint-request/create":
    case "burn-offer/create":
    case "burn-request/create":
    case "burn-mint-factory": {
      const { operation, registrar, instrument: instrumentId, holders } = request;
      const query = { registrar, instrumentId, holders };
      return factoryOf(
        await askUtility((utility, context) =>
          operation === "burn-mint-factory"
            ? utility.burnMintFactory(context, query)
            : utility.issuanceFactory(context, created[operation], query),
        ),
      );
    }
    case "instrument-configuration": {
      const found = await askUtility((utility, context) => utility.instrumentConfiguration(context, request));
      return { contractIds: [found.contractId] };
    }
    case "instrument-configurations": {
      const all = await askUtility((utility, context) => utility.instrumentConfigurations(context));
      return { contractIds: all.map(({ contractId }) => contractId) };
    }
    case "instruments": {
      const all = await ask((registry, context) => registry.instruments(context, request.registrar));
      return { instruments: all.map(({ id, paused = false }) => ({ id, paused })) };
    }
    case "supported-apis":
      return { supportedApis: await ask((registry, context) => supportedApisOf(registry, context, request.registrar)) };
    case "operator":
      return { party: await askUtility((utility, context) => utility.operator(context)) };
    case "transfer-instruction/accept":
    case "transfer-instruction/reject":
    case "transfer-instruction/withdraw":
    case "allocation/execute-transfer":
    case "allocation/withdraw":
    case "allocation/cancel":
    case "allocation-instruction/accept":
    case "allocation-instruction/withdraw":
      return contextOf(await ask((registry, context) => registry.choiceContext(context, request.operation, request)));
    default: {
      const query = { registrar: undefined, contractId: request.contractId };
      return contextOf(
        await askUtility((utility, context) => utility.issuanceContext(context, request.operation, query)),
      );
    }
  }
}

const factoryOf = (
  answer: ContextAnswer & { readonly factoryId: string; readonly transferKind?: string },
): ActualAnswer => {
  const { factoryId, transferKind } = answer;
  return { ...contextOf(answer), factoryId, ...(transferKind !== undefined && { transferKind }) };
};

function contextOf({ values, disclosed }: ContextAnswer): ActualAnswer {
  return { values: values.flatMap(namedValue), disclosed: disclosed.map(({ contractId }: Contract) => contractId) };
}

/** A value stands under its name, and then under its alias if it has one. */
const namedValue = ({ name, alias, value }: NamedValue) =>
  (alias === undefined ? [name] : [name, alias]).map((key) => ({ key, value: untagged(value) }));

function untagged(value: AnyValue): Value {
  switch (value.tag) {
    case "AV_ContractId":
    case "AV_Bool":
      return value.value;
    case "AV_List":
      return value.value.map(untagged);
    case "AV_Map":
      return new Map(value.value.map(({ name, value: inner }) => [name, untagged(inner)]));
    default:
      throw new Error(`no entry of the specification has a value with the tag ${value.tag}`);
  }
}

/** What differs, one sentence each; empty if the answer is as expected. */
export function differences(expected: Expected, actual: Actual): string[] {
  if (expected.kind === "failure") {
    const { failures } = expected;
    const statuses = distinct(failures.map(({ status }) => status));
    if (actual.status === 200) return [`the status must be ${statuses.join(" or ")}, but is 200`];
    const { status, message } = actual;
    const same = failures.filter((failure) => failure.status === status);
    if (same.length === 0) return [`the status must be ${statuses.join(" or ")}, but is ${status}: ${message}`];
    const isNamed = same.some(({ mentions }) => mentions.every((mention) => message.includes(mention)));
    const wanted = same.map(({ mentions }) => mentions.join(" and ")).join("; or ");
    return isNamed ? [] : [`the message must name ${wanted}, but is: ${message}`];
  }
  if (actual.status !== 200) return [`the status must be 200, but is ${actual.status}: ${actual.message}`];
  const { answer } = actual;
  switch (expected.kind) {
    case "context":
      return [
        ...unlessEqual("factoryId", expected.factoryId, answer.factoryId),
        ...unlessEqual("transferKind", expected.transferKind, answer.transferKind),
        ...contextDifferences(expected.context, answer),
      ];
    case "contracts":
      return unlessEqual("the contracts", expected.contractIds.toSorted(), answer.contractIds?.toSorted());
    case "instruments":
      return unlessEqual("the instruments", expected.instruments.toSorted(byId), answer.instruments?.toSorted(byId));
    case "supported apis":
      return unlessEqual("the supported APIs", sortedByName(expected.apis), sortedByName(answer.supportedApis ?? {}));
    case "party":
      return unlessEqual("the party", expected.party, answer.party);
  }
}

function contextDifferences({ values, disclosures }: ExpectedContext, answer: ActualAnswer): string[] {
  const actual = answer.values ?? [];
  const keys = unlessEqual(
    "the keys",
    values.map(({ key }) => key),
    actual.map(({ key }) => key),
  );
  if (keys.length > 0) return keys;
  const different = values.flatMap(({ key, value }, index) => {
    const found = actual[index]?.value;
    return found !== undefined && matches(value, found)
      ? []
      : [`${key} must be ${format(value)}, but is ${format(found)}`];
  });
  if (different.length > 0) return different;
  // The values are as expected. Every contract that they refer to is disclosed, in their order, then the others.
  const referred = actual.flatMap(({ value }) => contractIdsIn(value));
  return unlessEqual("the disclosed contracts", distinct([...referred, ...disclosures]), answer.disclosed);
}

function matches(expected: ExpectedValue, actual: Value): boolean {
  switch (expected.is) {
    case "contract":
      return actual === expected.contractId;
    case "flag":
      return actual === expected.value;
    case "contracts by name":
      return actual instanceof Map && isSame(sortedEntries(expected.contractIds), sortedEntries(actual));
    case "credentials":
      return isTexts(actual) && areCredentials(expected.parties, actual);
    case "credentials by party": {
      const lists = actual instanceof Map ? sortedEntries<Value>(actual) : [];
      const parties = sortedEntries(expected.parties);
      return (
        lists.length === parties.length &&
        parties.every(([party, choices], index) => {
          const [name, list] = lists[index] ?? [];
          return name === party && isTexts(list) && areCredentials([choices], list);
        })
      );
    }
  }
}

/**
 * Whether a list has one of the allowed sets of each party and issuer: party by party, and within a party in any order.
 * A credential that serves several parties stands there once.
 */
function areCredentials(parties: readonly (readonly CredentialChoice[])[], ids: readonly string[]): boolean {
  const matchFrom = (index: number, used: ReadonlySet<string>): boolean => {
    const choices = parties[index];
    if (choices === undefined) return used.size === ids.length;
    return combinations(choices).some((chosen) => {
      const next = new Set([...used, ...chosen]);
      return ids.slice(0, next.size).every((id) => next.has(id)) && matchFrom(index + 1, next);
    });
  };
  return matchFrom(0, new Set());
}

/** Every way to take one set of each issuer. */
function combinations([first, ...others]: readonly CredentialChoice[]): string[][] {
  if (first === undefined) return [[]];
  return combinations(others).flatMap((rest) => first.sets.map((set) => rest.concat(set)));
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);

const isTexts = (value: Value | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((element) => typeof element === "string");

/** The contract ids in a value, in order. */
function contractIdsIn(value: Value): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "boolean" ? [] : [...value.values()].flatMap(contractIdsIn);
}

function sortedEntries<T>(value: ReadonlyMap<string, T>): [string, T][] {
  return [...value].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const sortedByName = (value: Readonly<Record<string, number>>): [string, number][] =>
  sortedEntries(new Map(Object.entries(value)));

/** JSON, with maps as lists of pairs. */
const format = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (inner instanceof Map ? [...inner] : inner));

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function unlessEqual(what: string, expected: unknown, actual: unknown): string[] {
  if (isSame(expected, actual)) return [];
  return [`${what} must be ${JSON.stringify(expected)}, but is ${JSON.stringify(actual)}`];
}
