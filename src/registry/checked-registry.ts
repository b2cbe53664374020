/** Checks what a registry of an operator's own answers: a mistake in it must not become a wrong disclosure. */
import { formatValue, invalid, refuse } from "../domain/errors.js";
import { isObject, type JsonValue, valueAt } from "../util/json.js";
import { targetSynchronizerOf } from "./factory-arguments.js";
import type {
  AnyValue,
  ContextResult,
  FactoryResult,
  FactoryQuery,
  NamedValue,
  Registry,
  RequestContext,
} from "./sdk/registry.js";

/** An answer that the rules of answers do not allow. The response is 500; the log has the message. */
class WrongAnswer extends Error {
  constructor(registry: string, problem: string) {
    super(`registry ${registry} gave an answer that cannot be used: ${problem}`);
    this.name = "WrongAnswer";
  }
}

/**
 * The registry with checks of requests and answers. A request must be about the registrar and its instruments: otherwise
 * "invalid" or "not-found". An answer discloses each contract once, all on one synchronizer, and what its values refer to.
 */
export function checkedRegistry(registry: Registry): Registry {
  const answered = <A extends ContextResult>(answer: A): A => {
    const problem = problemOf(answer);
    if (problem !== undefined) throw new WrongAnswer(registry.name, problem);
    return answer;
  };
  const factory = <A extends FactoryResult>(context: RequestContext, query: FactoryQuery, find: () => A): A => {
    checkRequest(registry, context, query);
    const answer = answered(find());
    if (answer.disclosed.some(({ contractId }) => contractId === answer.factoryId)) return answer;
    throw new WrongAnswer(registry.name, `the factory ${answer.factoryId} is not disclosed`);
  };
  const checked: Partial<Registry> = {
    transferFactory: (context, query) => factory(context, query, () => registry.transferFactory(context, query)),
    allocationFactory: (context, query) => factory(context, query, () => registry.allocationFactory(context, query)),
    settlementFactory: (context, query) => factory(context, query, () => registry.settlementFactory(context, query)),
    choiceContext: (context, choice, query) => answered(registry.choiceContext(context, choice, query)),
  };
  // The methods of a class are not its own properties.
  return Object.assign(Object.create(registry) as Registry, checked);
}

/** Where the arguments of the standard's factories name an admin and an instrument of it; in version 2 lists of legs do. */
const INSTRUMENTS = [
  ["transfer", "instrumentId"],
  ["allocation", "transferLeg", "instrumentId"],
] as const;
const LEGS = [["allocation", "transferLegSides"], ["transferLegs"]] as const;

function checkRequest(registry: Registry, context: RequestContext, query: FactoryQuery): void {
  const { registrar, choiceArguments, argumentsName = "choiceArguments" } = query;
  const mustBeRegistrar = (value: JsonValue | undefined, path: string) => {
    if (value === undefined || value === null || value === registrar) return;
    const problem = `is ${formatValue(value)}, but the registrar of the request is ${registrar}`;
    throw invalid(`${path} ${problem}`, { field: `${argumentsName}.${path}`, problem });
  };
  // Throws if it is no text.
  targetSynchronizerOf(query);
  mustBeRegistrar(choiceArguments["expectedAdmin"], "expectedAdmin");
  mustBeRegistrar(valueAt(choiceArguments, "allocation", "admin"), "allocation.admin");
  const named = new Set<string>();
  for (const path of INSTRUMENTS) {
    const instrument = valueAt(choiceArguments, ...path);
    if (!isObject(instrument)) continue;
    mustBeRegistrar(instrument["admin"], `${path.join(".")}.admin`);
    if (typeof instrument["id"] === "string") named.add(instrument["id"]);
  }
  for (const path of LEGS) {
    const legs = valueAt(choiceArguments, ...path);
    if (!Array.isArray(legs)) continue;
    for (const leg of legs)
      if (isObject(leg) && typeof leg["instrumentId"] === "string") named.add(leg["instrumentId"]);
  }
  if (registry.servesUnlisted?.(registrar) === true) named.clear();
  const known = named.size === 0 ? [] : registry.instruments(context, registrar);
  for (const id of named)
    if (!known.some((one) => one.id === id || one.otherIds.includes(id)))
      throw refuse("instrument-unknown", `registrar ${registrar} has no instrument "${id}"`, {
        registrar,
        instrument: id,
      });
  const { transferLegs } = choiceArguments;
  if (Array.isArray(transferLegs) && transferLegs.length === 0) {
    const problem = "is empty: a settlement needs at least one leg";
    throw invalid(`transferLegs ${problem}`, { field: `${argumentsName}.transferLegs`, problem });
  }
}

const TEXTS: ReadonlySet<string> = new Set([
  "AV_Text",
  "AV_Int",
  "AV_Decimal",
  "AV_Date",
  "AV_Time",
  "AV_RelTime",
  "AV_Party",
  "AV_ContractId",
]);

/** What is wrong with an answer; undefined for a good one. */
function problemOf({ values, disclosed, visible = [] }: ContextResult): string | undefined {
  const ids = new Set<string>();
  const synchronizers = new Set<string>();
  for (const { contractId, synchronizerId } of disclosed) {
    if (ids.has(contractId)) return `contract ${contractId} is disclosed twice`;
    ids.add(contractId);
    if (synchronizerId === undefined) return `contract ${contractId} is in reassignment`;
    synchronizers.add(synchronizerId);
  }
  if (synchronizers.size > 1) return `its contracts are on several synchronizers: ${[...synchronizers].join(", ")}`;
  for (const id of visible) ids.add(id);
  return problemOfNames(values) ?? values.map(({ name, value }) => problemOfValue(value, name, ids)).find(isPresent);
}

const isPresent = (problem: string | undefined): boolean => problem !== undefined;

function problemOfNames(values: readonly NamedValue[]): string | undefined {
  const names = values.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  return twice === undefined ? undefined : `the key ${twice} is there twice`;
}

function problemOfValue(value: AnyValue, path: string, disclosed: ReadonlySet<string>): string | undefined {
  switch (value.tag) {
    case "AV_List":
      return value.value.map((one, index) => problemOfValue(one, `${path}[${index}]`, disclosed)).find(isPresent);
    case "AV_Map":
      return (
        problemOfNames(value.value) ??
        value.value.map(({ name, value: inner }) => problemOfValue(inner, `${path}.${name}`, disclosed)).find(isPresent)
      );
    case "AV_Bool":
      return typeof value.value === "boolean" ? undefined : `${path} must be a boolean`;
    default:
      // A module may be plain JavaScript.
      if (!TEXTS.has(value.tag)) return `${path} has the unknown tag ${value.tag}`;
      if (typeof value.value !== "string") return `${path} must be a text`;
      return value.tag !== "AV_ContractId" || disclosed.has(value.value)
        ? undefined
        : `${path} refers to contract ${value.value}, which is neither disclosed nor named as visible`;
  }
}
