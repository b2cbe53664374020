/** A table of requests and expected answers, kept beside a registry file: docs/your-own-registry.md, "Tests". */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { isObject, type JsonObject, type JsonValue } from "../util/json.js";
import { errorMessage } from "../util/logger.js";
import { type Loaded, loadForm } from "../registry/engine/file.js";
import type { RegistryFile } from "../registry/engine/grammar.js";
import type { Registry } from "../registry/sdk/registry.js";
import {
  answerIn,
  ask,
  asServed,
  type ContextValue,
  RefusedRequest,
  shortContract,
  testRequest,
  type TestRequest,
} from "./answer.js";

const text = z.string().min(1);
const json = z.record(z.string(), z.json());

const contract = shortContract.extend({ contractId: text });
/** Registrar and time are by default those of the file. */
const request = testRequest.partial({ registrar: true });

/** A contract id, a boolean, a list of these, or an AnyValue as JSON has it. */
const anyValue = z.union([text, z.boolean(), z.array(text), z.strictObject({ tag: text, value: z.json() })], {
  error: "must be a contract id, true, false, a list of contract ids, or an object with tag and value",
});

/** What is not given is not compared. */
const expectation = z
  .strictObject({
    factory: text.optional(),
    transferKind: z.enum(["self", "direct", "offer"]).optional(),
    /** All entries of the choice context. */
    values: z.record(z.string(), anyValue).optional(),
    /** The ids of all disclosed contracts. */
    disclosed: z.array(text).optional(),
    /** Whether they have to be in this order. */
    inOrder: z.boolean().optional(),
    /** All instruments, each with at least these fields. */
    instruments: z.array(json).optional(),
    /** Of a refusal. */
    status: z.number().int().min(400).max(599).optional(),
    code: text.optional(),
    /** What its message contains. */
    message: text.optional(),
  })
  .superRefine((given, context) => {
    const { status, code, message, ...ofAnswer } = given;
    const isRefusal = status !== undefined || code !== undefined || message !== undefined;
    if (Object.keys(given).length === 0) context.addIssue("must have at least one field");
    else if (isRefusal && Object.keys(ofAnswer).length > 0)
      context.addIssue("must be an answer, or a refusal with status, code and message, but not both");
  });

const registryTests = z.strictObject({
  registrar: text.optional(),
  at: text.optional(),
  /** Those of every case. */
  contracts: z.array(contract),
  cases: z
    .array(
      z.strictObject({
        name: text,
        request,
        /** Further ones; each takes the place of one with the same id. */
        contracts: z.array(contract).optional(),
        expect: expectation,
      }),
    )
    .min(1),
});

/** The tests of a registry file. */
export type RegistryTests = z.infer<typeof registryTests>;
type Case = RegistryTests["cases"][number];
type Expectation = Case["expect"];

/** One case, and how its answer differs from what is expected. */
export interface CaseResult {
  readonly name: string;
  /** One line each; empty if the case passes. */
  readonly differences: readonly string[];
}

/** Reads `<name>.test.yaml`. Every mistake is found at once, each with its line and column. */
export const parseRegistryTests = (content: Uint8Array | string): Loaded<RegistryTests> =>
  loadForm(content, registryTests, ({ registrar, cases }) =>
    cases.flatMap((one, index) =>
      registrar === undefined && one.request.registrar === undefined
        ? [{ path: ["cases", index, "request"], message: "must have a registrar, which the file has not either" }]
        : [],
    ),
  );

/** Asks the registry the cases one after the other, with the checks that the service makes. */
export const runRegistryTests = (
  registry: Registry | RegistryFile,
  tests: RegistryTests,
): Promise<readonly CaseResult[]> => runCases(asServed(registry), tests);

/** Asks a registry as it was loaded. */
export async function runCases(registry: Registry, tests: RegistryTests): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const one of tests.cases) {
    // oxlint-disable-next-line no-await-in-loop -- in sequence: it computes, and waits for nothing
    results.push({ name: one.name, differences: await differencesOf(registry, tests, one) });
  }
  return results;
}

async function differencesOf(
  registry: Registry,
  { registrar = "", at, contracts }: RegistryTests,
  { request: own, contracts: further = [], expect }: Case,
): Promise<readonly string[]> {
  const replaced = new Set(further.map(({ contractId }) => contractId));
  const all = [...contracts.filter(({ contractId }) => !replaced.has(contractId)), ...further];
  const asked: TestRequest = { ...own, registrar: own.registrar ?? registrar, at: own.at ?? at };
  const isRefusal = expect.status !== undefined || expect.code !== undefined || expect.message !== undefined;
  try {
    const got = answered(await ask(registry, all, asked));
    return isRefusal ? [line("answer", refusalOf(expect), got)] : compareAnswer(expect, got);
  } catch (error) {
    if (!(error instanceof RefusedRequest)) return [`failed: ${errorMessage(error)}`];
    const { status, code, message } = error;
    if (!isRefusal) return [line("answer", expect, { status, code, message })];
    return compareRefusal(expect, error);
  }
}

const refusalOf = ({ status, code, message }: Expectation): object => ({ status, code, message });

const line = (what: string, expected: unknown, got: unknown): string =>
  `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`;

function compareRefusal(expect: Expectation, { status, code, message }: RefusedRequest): string[] {
  return [
    ...(expect.status === undefined || expect.status === status ? [] : [line("status", expect.status, status)]),
    ...(expect.code === undefined || expect.code === code ? [] : [line("code", expect.code, code)]),
    ...(message.includes(expect.message ?? "") ? [] : [line("message", expect.message, message)]),
  ];
}

type Answered = Omit<Expectation, "inOrder">;

/** An answer in the form of an expectation. */
function answered(body: JsonObject): Answered {
  const { values, disclosed, instruments, ...more } = answerIn(body);
  if (values === undefined) return { instruments: [...(instruments ?? [])] };
  return { ...more, values: shortValues(values), disclosed: (disclosed ?? []).map(({ contractId }) => contractId) };
}

type Values = NonNullable<Expectation["values"]>;

const shortValues = (values: Readonly<Record<string, Values[string] | ContextValue>> = {}): Values =>
  Object.fromEntries(Object.entries(values).map(([name, one]) => [name, shortValue(one)]));

/** A contract id, a boolean and a list of contract ids without their tags. */
function shortValue(any: Values[string] | ContextValue): Values[string] {
  if (typeof any !== "object" || Array.isArray(any)) return any;
  const { tag, value: content } = any as ContextValue;
  if (tag === "AV_ContractId" || tag === "AV_Bool") return content;
  const ids = tag === "AV_List" ? content.map(shortValue) : [];
  return tag === "AV_List" && ids.every((id) => typeof id === "string") ? ids : (any as Values[string]);
}

function compareAnswer({ inOrder = false, ...expect }: Expectation, got: Answered): string[] {
  const ordered = ({ disclosed }: Answered) => (inOrder ? disclosed : disclosed?.toSorted());
  const isSame: Readonly<Record<string, boolean>> = {
    values: isDeepStrictEqual(got.values, shortValues(expect.values)),
    disclosed: isDeepStrictEqual(ordered(got), ordered(expect)),
    instruments: contains(got.instruments ?? null, expect.instruments ?? null),
  };
  return Object.entries(expect).flatMap(([field, expected]) => {
    const found = got[field as keyof Answered];
    return (isSame[field] ?? found === expected) ? [] : [line(field, expected, found)];
  });
}

/** Whether objects have at least the fields that are expected of them. */
function contains(found: JsonValue, expected: JsonValue): boolean {
  if (Array.isArray(expected))
    return (
      Array.isArray(found) &&
      found.length === expected.length &&
      expected.every((one, index) => contains(found[index] ?? null, one))
    );
  if (!isObject(expected)) return found === expected;
  return isObject(found) && Object.entries(expected).every(([name, one]) => contains(found[name] ?? null, one));
}
