/** Asks every operation of the table of contexts at once, on a registry with a contexts file. */
import type { JsonObject } from "../../src/util/json.js";
import { lines } from "../fixtures/contexts.js";
import type { Call } from "../fixtures/protocols.js";
import { rulesOn } from "../fixtures/rules.js";
import { completeElements, contextCalls } from "../fixtures/operation-calls.js";
import type { registryOf } from "../fixtures/registries.js";

/** The values and disclosed contracts of an answer, or its refusal. */
export interface Answer {
  readonly values?: JsonObject;
  readonly disclosed?: readonly string[];
  readonly status?: number;
  readonly message?: string;
}

export interface Contexts {
  ask(call: Call): Promise<Answer>;
  /** By the name of the operation. */
  askFor(operation: string): Promise<Answer>;
  /** What `read` takes of the answer of every operation, by its name. */
  askAll<T>(read: (answer: Answer) => T): Promise<Record<string, T>>;
}

/** `contexts` is the content of the file. */
export function contextsOn(contexts: string, elements: readonly JsonObject[]): Contexts {
  const rules = rulesOn(elements, { contexts: contexts === "" ? {} : contexts });
  const askOf = async (call: Call): Promise<Answer> => {
    const { values, disclosed, status, message } = (await rules.ask(call)) as Answer & JsonObject;
    return values === undefined
      ? { status: status ?? 0, message: message ?? "" }
      : { values, disclosed: disclosed ?? [] };
  };
  return {
    ask: askOf,
    askFor(operation) {
      const call = contextCalls.get(operation);
      if (call === undefined) throw new Error(`no call of ${operation}`);
      return askOf(call);
    },
    async askAll(read) {
      const answers = [...contextCalls].map(async ([name, call]) => [name, read(await askOf(call))] as const);
      return Object.fromEntries(await Promise.all(answers));
    },
  };
}

/** The small registry with an instruction of every template. */
export const contexts = (
  file: string,
  registry?: Parameters<typeof registryOf>[0],
  ...added: readonly JsonObject[]
): Contexts => contextsOn(file, completeElements({ registry, added }));

/** A file of changes, one a line. */
export const changes = (...texts: readonly string[]): string =>
  lines("changes:", ...texts.map((text) => `  - ${text}`));

export const operations: readonly string[] = [...contextCalls.keys()];

/** Reject, withdraw and cancel, which never fail for a missing contract. */
export const isExit = (operation: string): boolean => /\/(?:reject|withdraw|cancel)$/.test(operation);

/** Something of every operation, by its name. */
export const ofEach = <T>(of: (operation: string) => T): Record<string, T> =>
  Object.fromEntries(operations.map((operation) => [operation, of(operation)]));

/** The keys of an answer without those of the built-in entries. */
export function ownValues({ values, ...refusal }: Answer): JsonObject {
  if (values === undefined) throw new Error(JSON.stringify(refusal));
  return Object.fromEntries(Object.entries(values).filter(([key]) => !key.startsWith("utility.")));
}
