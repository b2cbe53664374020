/** What the registry says that it supports, and what it serves. */
import { type Check, Skipped, Violation } from "./check.js";
import { type Json, type JsonObject, objectOf, textOf } from "./json.js";
import { infoOf, instrumentsOf } from "./metadata.js";
import type { Exchange } from "./prober.js";
import type { Registry } from "./registry.js";
import { type Asked, askAll } from "./requests.js";

/** The names that the documents have in supportedApis: `splice-api-token-transfer-instruction-v1`. */
export const apiName = (api: string): string => `splice-api-token-${api.replace(/^token-/, "")}`;

function noneIfSkipped(error: unknown): readonly JsonObject[] {
  if (error instanceof Skipped) return [];
  throw error;
}

/** Who lists each API: the registry, or instruments by their ids. */
export const listedApis = (registry: Registry): Promise<ReadonlyMap<string, readonly string[]>> =>
  registry.once("listed", async () => {
    const by = new Map<string, string[]>();
    const add = (who: string, apis: Json | undefined) => {
      for (const name of Object.keys(objectOf(apis))) by.set(name, [...(by.get(name) ?? []), who]);
    };
    const info = await infoOf(registry);
    if (info.status === 200) add("the registry", objectOf(info.json)["supportedApis"]);
    for (const one of await instrumentsOf(registry).catch(noneIfSkipped)) add(textOf(one["id"]), one["supportedApis"]);
    return by;
  });

/**
 * Whether the path is not there. Documents name 404 too, for an unknown party, instrument or contract, and then describe its
 * error.
 */
function isUnserved({ operation, exchange }: Asked): boolean {
  const { status, json } = exchange;
  if (status === 405 || status === 501) return true;
  return status === 404 && operation.defects(404, json ?? null).length > 0;
}

export const servedChecks: readonly Check[] = [
  {
    id: "listed-apis",
    severity: "must",
    says: "what the registry or an instrument lists in supportedApis is served",
    quote: "The token standard APIs supported by the registry.",
    place: "token-metadata-v1 1.0.0, GetRegistryInfoResponse.supportedApis",
    help: "Serve the operation at the path of its document, or take the API from the list",
    async run(registry) {
      const apis = await listedApis(registry);
      for (const asked of await askAll(registry)) {
        const { operation, exchange } = asked;
        const [who] = apis.get(apiName(operation.api)) ?? [];
        if (who !== undefined && isUnserved(asked))
          throw new Violation(
            `${who} lists ${apiName(operation.api)}, and ${operation.id} is ${statusOf(exchange)}`,
            exchange,
          );
      }
    },
  },
  {
    id: "unlisted-apis",
    severity: "information",
    says: "each API that is served is listed",
    quote: "The published wallet library offers what supportedApis of an instrument lists, and nothing else",
    place: "@canton-network/core-token-standard-service 1.8.0",
    help: "List the API in supportedApis of the instrument, if its contracts implement it",
    async run(registry) {
      const apis = await listedApis(registry);
      if (apis.size === 0) throw new Skipped("neither info nor the instruments are answered");
      const names = (await askAll(registry)).flatMap(({ operation, exchange }) =>
        exchange.status === 200 && !apis.has(apiName(operation.api)) ? [apiName(operation.api)] : [],
      );
      return names.length === 0 ? undefined : `served, and listed by nobody: ${[...new Set(names)].join(", ")}`;
    },
  },
  {
    id: "offered",
    severity: "information",
    says: "operations are served",
    quote: "404, 405 and 501 mean that an operation is not offered, and a 404 of a contract that it is not known",
    place: "an observation of this program",
    help: "",
    async run(registry) {
      const asked = await askAll(registry);
      return asked
        .map(({ operation, exchange }) => `${operation.api} ${operation.id} ${statusOf(exchange)}`)
        .join(", ");
    },
  },
  {
    id: "timing",
    severity: "information",
    says: "answers come in time",
    quote: "a wallet waits for each answer before it submits",
    place: "an observation of this program",
    help: "",
    async run(registry) {
      const exchanges = (await askAll(registry)).map(({ exchange }) => exchange);
      const [middle = 0] = exchanges
        .map(({ ms }) => ms)
        .toSorted((a, b) => a - b)
        .slice(exchanges.length >> 1);
      const largest = Math.max(0, ...exchanges.map(({ text }) => text.length));
      return `half of the answers took ${Math.ceil(middle)} ms or less; the largest has ${largest} bytes`;
    },
  },
];

const statusOf = ({ status }: Exchange): string => (status === 0 ? "not answered" : String(status));
