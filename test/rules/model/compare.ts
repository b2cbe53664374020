/** Compares an answer of the registry with the model's. */
import { distinct } from "./choice-arguments.js";
import type { CredentialChoice } from "./credentials.js";
import type { Actual, ActualAnswer, Value } from "./execute.js";
import type { Expected, ExpectedContext, ExpectedValue } from "./expected.js";

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
