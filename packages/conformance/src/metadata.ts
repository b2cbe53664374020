/** Checks of the metadata API: what a wallet asks first. */
import { type Check, requireAnswer, requireVerdict, Skipped, Violation } from "./check.js";
import { type JsonObject, listOf, objectOf, sortedJson, textOf } from "./json.js";
import type { Exchange } from "./prober.js";
import type { Registry } from "./registry.js";

const API = "token-metadata-v1";
const DOCUMENT = "token-metadata-v1 1.0.0";
const MAX_PAGES = 200;
const MAX_LOOKED_UP = 5;

export const infoOf = (registry: Registry): Promise<Exchange> =>
  registry.once("info", () => registry.call(registry.operation(API, "getRegistryInfo")));

/** The first page of instruments, whatever its status. */
export const pageOf = (registry: Registry): Promise<Exchange> =>
  registry.once("instruments", () => registry.call(registry.operation(API, "listInstruments")));

/** A page of instruments. Throws Violation if it is none. */
async function page(registry: Registry, query?: Readonly<Record<string, string>>): Promise<Exchange> {
  const operation = registry.operation(API, "listInstruments");
  const exchange = query === undefined ? await pageOf(registry) : await registry.call(operation, { query });
  requireAnswer(exchange, operation.defects(200, exchange.json));
  return exchange;
}

export const instrumentsIn = ({ json }: Exchange): readonly JsonObject[] =>
  listOf(objectOf(json)["instruments"]).map(objectOf);
const tokenOf = ({ json }: Exchange): string => textOf(objectOf(json)["nextPageToken"]);

/** All instruments, and the last page. Throws Violation if the pages do not end. */
const allInstruments = (registry: Registry): Promise<{ instruments: readonly JsonObject[]; last: Exchange }> =>
  registry.once("pages", async () => {
    const instruments: JsonObject[] = [];
    const tokens = new Set<string>();
    let last = await page(registry);
    const known = new Set<string>();
    for (;;) {
      const listed = instrumentsIn(last);
      const ids = listed.map(({ id }) => textOf(id));
      if (ids.length > 0 && ids.every((id) => known.has(id)))
        throw new Violation(`a page lists ${ids.join(", ")} again, and nothing else`, last);
      for (const id of ids) known.add(id);
      instruments.push(...listed);
      const token = tokenOf(last);
      if (token === "") return { instruments, last };
      if (tokens.has(token)) throw new Violation(`nextPageToken ${token} came before: the pages do not end`, last);
      if (tokens.size === MAX_PAGES) throw new Skipped(`there are more than ${MAX_PAGES} pages`);
      tokens.add(token);
      last = await page(registry, { pageToken: token });
    }
  });

/** All instruments, those of the first page where the pages are wrong. Throws Skipped if there is none. */
export async function instrumentsOf(registry: Registry): Promise<readonly JsonObject[]> {
  const all = await allInstruments(registry).catch((error: unknown) => {
    if (!(error instanceof Violation) && !(error instanceof Skipped)) throw error;
    return undefined;
  });
  const instruments = all?.instruments ?? instrumentsIn(await pageOf(registry));
  if (instruments.length === 0) throw new Skipped("no instrument is listed");
  return instruments;
}

/** What both have to have; of the rest a list may tell less, and a supply may have changed meanwhile. */
const required = ({ id, name, symbol, decimals, supportedApis }: JsonObject): string =>
  sortedJson([id, name, symbol, decimals, supportedApis].map((field = null) => field));

export const metadataChecks: readonly Check[] = [
  {
    id: "info",
    severity: "must",
    says: "the registry says who it is, and which APIs it supports",
    quote: "GetRegistryInfoResponse: required: adminId, supportedApis",
    place: `${DOCUMENT}, components/schemas/GetRegistryInfoResponse`,
    help: "Serve GET /registry/metadata/v1/info with adminId and supportedApis",
    async run(registry) {
      const exchange = await infoOf(registry);
      requireAnswer(exchange, registry.operation(API, "getRegistryInfo").defects(200, exchange.json));
    },
  },
  {
    id: "info-admin",
    severity: "should",
    says: "adminId is the registrar that was asked for",
    quote: "The Daml party representing the registry app",
    place: `${DOCUMENT}, GetRegistryInfoResponse.adminId`,
    help: "Answer with the party of the path; wallets compare it with the instrument's admin",
    async run(registry) {
      const { registrar, isRegistrarGiven } = registry.known;
      if (!isRegistrarGiven || registrar === undefined) throw new Skipped("no --registrar was given");
      const exchange = await infoOf(registry);
      const adminId = textOf(objectOf(exchange.json)["adminId"]);
      if (exchange.status === 200 && adminId !== registrar)
        throw new Violation(`adminId is ${adminId === "" ? "missing" : adminId}, not ${registrar}`, exchange);
      if (exchange.status !== 200) throw new Skipped(`info is ${exchange.status}`);
    },
  },
  {
    id: "instruments",
    severity: "must",
    says: "the instruments are listed",
    quote: "List all instruments managed by this instrument admin.",
    place: `${DOCUMENT}, listInstruments`,
    help: "Serve GET /registry/metadata/v1/instruments; each has id, name, symbol, decimals and supportedApis",
    async run(registry) {
      await page(registry);
    },
  },
  {
    id: "paging-ends",
    severity: "must",
    says: "the pages of instruments end, and list each instrument once",
    quote: "The `nextPageToken` received from the response for the previous page.",
    place: `${DOCUMENT}, listInstruments, pageToken`,
    help: "Leave nextPageToken out on the last page, and begin a page after the last instrument of the one before",
    async run(registry) {
      const { instruments, last } = await allInstruments(registry);
      const ids = instruments.map(({ id }) => textOf(id));
      const again = ids.find((id, index) => ids.indexOf(id) !== index);
      if (again !== undefined) throw new Violation(`the instrument ${again} is listed more than once`, last);
    },
  },
  {
    id: "page-size",
    severity: "should",
    says: "a page has at most as many instruments as were asked for",
    quote: "Number of instruments per page.",
    place: `${DOCUMENT}, listInstruments, pageSize`,
    help: "Read pageSize; a smaller page is right too",
    async run(registry) {
      const exchange = await page(registry, { pageSize: "1" });
      const { length } = instrumentsIn(exchange);
      if (length > 1) throw new Violation(`pageSize=1 lists ${length} instruments`, exchange);
    },
  },
  {
    id: "decimals",
    severity: "must",
    says: "decimals are from 0 to 10",
    quote: "Must be a number between 0 and 10",
    place: `${DOCUMENT}, Instrument.decimals`,
    help: "Correct the decimals of the instrument",
    async run(registry) {
      const instruments = await instrumentsOf(registry);
      const exchange = await pageOf(registry);
      const wrong = instruments.find(({ decimals }) => typeof decimals !== "number" || decimals < 0 || decimals > 10);
      if (wrong !== undefined)
        throw new Violation(`decimals of ${textOf(wrong["id"])} are ${JSON.stringify(wrong["decimals"])}`, exchange);
    },
  },
  {
    id: "total-supply",
    severity: "must",
    says: "a total supply is a decimal",
    quote: "Decimal encoded current total supply of the instrument.",
    place: `${DOCUMENT}, Instrument.totalSupply`,
    help: "Write it as digits with at most ten after the point, without separators",
    async run(registry) {
      const instruments = await instrumentsOf(registry);
      const exchange = await pageOf(registry);
      const wrong = instruments.find(
        ({ totalSupply = null }) => totalSupply !== null && !/^\d+(\.\d+)?(E[+-]?\d+)?$/i.test(textOf(totalSupply)),
      );
      if (wrong !== undefined)
        throw new Violation(
          `totalSupply of ${textOf(wrong["id"])} is ${JSON.stringify(wrong["totalSupply"])}`,
          exchange,
        );
    },
  },
  {
    id: "instrument-by-id",
    severity: "must",
    says: "a listed instrument is found by its id, as it is listed",
    quote: "The unique identifier assigned by the admin to the instrument.",
    place: `${DOCUMENT}, Instrument.id and getInstrument`,
    help: "Serve GET /registry/metadata/v1/instruments/{instrumentId} for each id of the list, also where it is escaped in the path",
    async run(registry) {
      const operation = registry.operation(API, "getInstrument");
      const instruments = await instrumentsOf(registry);
      for (const listed of instruments.slice(0, MAX_LOOKED_UP)) {
        const exchange = await registry.call(operation, { ids: { instrumentId: textOf(listed["id"]) } });
        requireAnswer(exchange, operation.defects(200, exchange.json));
        const found = objectOf(exchange.json);
        if (required(found) !== required(listed))
          throw new Violation(`the instrument ${textOf(listed["id"])} is not as it is listed`, exchange);
      }
    },
  },
  {
    id: "unknown-instrument",
    severity: "must",
    says: "an instrument that does not exist is 404, with an error",
    quote: "'404': not found: ErrorResponse: required: error",
    place: `${DOCUMENT}, getInstrument`,
    help: 'Answer 404 with {"error": "…"}',
    async run(registry) {
      if (!registry.known.negative) throw new Skipped("wrong requests are sent with --negative only");
      const operation = registry.operation(API, "getInstrument");
      const exchange = await registry.call(operation, { ids: { instrumentId: "no-such-instrument-of-anybody" } });
      requireVerdict(exchange);
      if (exchange.status !== 404) throw new Violation(`the status is ${exchange.status}, not 404`, exchange);
      const [defect] = operation.defects(404, exchange.json ?? null);
      if (defect !== undefined) throw new Violation(defect, exchange);
    },
  },
  {
    id: "supported-apis",
    severity: "habit",
    says: "an instrument lists the APIs that wallets look for, with minor version 1",
    quote:
      "The published wallet library counts an API of an instrument where its minor version is exactly 1, the holding API among them",
    place: "@canton-network/core-token-standard-service 1.8.0",
    help: 'List "splice-api-token-holding-v1": 1 and each API that is served in supportedApis of the instrument',
    async run(registry) {
      const instruments = await instrumentsOf(registry);
      const exchange = await pageOf(registry);
      for (const { id, supportedApis } of instruments) {
        const missing = ["holding", "transfer-instruction"].filter(
          (name) => objectOf(supportedApis)[`splice-api-token-${name}-v1`] !== 1,
        );
        if (missing.length > 0)
          throw new Violation(`${textOf(id)} does not list ${missing.join(" and ")} version 1 with 1`, exchange);
      }
    },
  },
];
