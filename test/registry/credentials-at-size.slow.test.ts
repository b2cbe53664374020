/**
 * An issuer may keep one credential with the claims of 10,000 parties, or 100,000 credentials of one claim each. A query
 * does the same work on them as on ten: counted, not timed.
 */
import { backgroundContext } from "../../src/registry/recorder.js";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Contract } from "../../src/domain/contract.js";
import { isStored } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/domain/json.js";
import type { Template } from "../../src/domain/template.js";
import { Decoder } from "../../src/ledger/decode.js";
import type { ContextAnswer, RequestContext } from "../../src/registry/sdk/registry.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../src/registry/utility/allocation.js";
import { type Credential, credential } from "../../src/registry/utility/templates.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import type { View } from "../../src/store/port.js";
import type { Statement } from "../../src/store/postgres/database.js";
import { fetchStatement } from "../../src/store/postgres/fetch.js";
import { Replica } from "../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../src/store/postgres/writer.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { planOf, type Work, workOf } from "../fixtures/postgres-plans.js";
import { clock, freshSchema, type Schema } from "../fixtures/postgres-schema.js";
import { registryOf } from "../fixtures/registries.js";
import { account, leg, settlement } from "../fixtures/requests.js";

const registry = utilityRegistry({ settlementLimits: MIN_SETTLEMENT_LIMITS });
const now = Date.parse("2026-06-01T00:00:00Z");
const { issuer, registrar } = parties;

const claim = requirement(["member=yes"]);
const needs = { holderRequirements: [claim], issuerRequirements: [claim] };

/** As many parties, in no particular order. Half of the others come before alice and bob by name, half after. */
const partiesOf = (count: number): string[] => [
  ...Array.from({ length: count / 2 - 1 }, (_, index) => `zoe-${(index * 7_919) % 1_000_003}::1220`),
  "alice",
  ...Array.from({ length: count / 2 - 1 }, (_, index) => `aaron-${(index * 7_919) % 1_000_003}::1220`),
  "bob",
];
const member = (subject: string): JsonObject => ({ subject, property: "member", value: "yes" });
const listOf = (id: string, subjects: readonly string[]): JsonObject =>
  element("Credential", id, payload.credential(issuer, [], { claims: subjects.map(member) }));

/** The issuer's credentials in both forms. */
const forms = {
  "one credential with the claims of all": (count: number) => [listOf("list", partiesOf(count))],
  "one credential for each": (count: number) => partiesOf(count).map((party) => listOf(`list-${party}`, [party])),
};
type Form = keyof typeof forms;

const elementsOf = (form: Form, count: number): JsonObject[] =>
  registryOf(
    {
      configuration: element("InstrumentConfiguration", "usd", payload.configuration("USD", needs)),
      alice: undefined,
      bob: undefined,
    },
    element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
    element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked")),
    element("Holding", "locked", payload.lockedHolding("alice", "USD")),
    ...forms[form](count),
  );

function contractsOf(elements: readonly JsonObject[]): Contract[] {
  const decoder = new Decoder(registry.templates);
  return elements.flatMap((one) => {
    const contract = decoder.decode(one)?.contract;
    return contract !== undefined && isStored(contract) ? [contract] : [];
  });
}

const queries: Readonly<Record<string, (context: RequestContext) => ContextAnswer>> = {
  "accepting a transfer": (context) =>
    registry.choiceContext(context, "transfer-instruction/accept", { registrar, contractId: "offer" }),
  "a settlement": (context) => {
    const { choiceArguments } = settlement([leg(account("alice"), account("bob"), "USD")], ["allocation"]);
    return registry.settlementFactory(context, { registrar, choiceArguments: choiceArguments as JsonObject });
  },
  "burning and minting": (context) => {
    if (registry.utility === undefined) throw new Error("the Registry Utility has utility operations");
    const query = { registrar, instrumentId: "USD", holders: ["alice", "bob"] };
    return registry.utility.burnMintFactory(context, query);
  },
};

/** The credentials that an answer discloses: the list, or alice's and bob's. */
const disclosedLists = ({ disclosed }: ContextAnswer): string[] =>
  disclosed.map(({ contractId }) => contractId).filter((id) => id.startsWith("list"));
const expectedLists: Readonly<Record<Form, readonly string[]>> = {
  "one credential with the claims of all": ["list"],
  "one credential for each": ["list-alice", "list-bob"],
};

const cases = (Object.keys(forms) as Form[]).flatMap((form) =>
  Object.keys(queries).map((query): [form: Form, query: string] => [form, query]),
);
const queryNamed = (name: string) => {
  const query = queries[name];
  if (query === undefined) throw new Error(`there is no query ${name}`);
  return query;
};

/** The work of one query. */
interface Counts {
  /** Lookups of credentials by index key. */
  lookups: number;
  /** The credentials that they returned. */
  found: number;
  /** Reads of any property of any credential. */
  contractReads: number;
  /** Reads of an element of a credential's list of subjects. */
  subjectReads: number;
  /** Listings of all contracts of a template. */
  listings: number;
}
const nothing = (): Counts => ({ lookups: 0, found: 0, contractReads: 0, subjectReads: 0, listings: 0 });

/** A credential that counts how it is read. */
function watched(contract: Contract<Credential>, counts: () => Counts): Contract<Credential> {
  const subjects = new Proxy(contract.fields.subjects, {
    get(target, name, receiver) {
      if (typeof name === "string" && /^\d+$/.test(name)) counts().subjectReads++;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  return new Proxy(
    { ...contract, fields: { ...contract.fields, subjects } },
    {
      get(target, name, receiver) {
        counts().contractReads++;
        return Reflect.get(target, name, receiver) as unknown;
      },
    },
  );
}

/** A view that counts lookups of credentials, and listings. */
function watchedView(view: View, counts: Counts): View {
  return new Proxy(view, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const result = Reflect.apply(value, target, args) as unknown;
        if (name === "all") counts.listings++;
        if (name === "byKey" && (args[0] as Template) === (credential as Template)) {
          counts.lookups++;
          counts.found += (result as readonly unknown[]).length;
        }
        return result;
      };
    },
  });
}

const isCredential = (contract: Contract): contract is Contract<Credential> => contract.template === credential;

/** Executes queries on a store in memory with that many members. */
async function memoryOf(form: Form, count: number) {
  let counts = nothing();
  const contracts = contractsOf(elementsOf(form, count));
  const store = new MemoryStore();
  await store.replace(
    contracts.map((one) => (isCredential(one) ? watched(one, () => counts) : one)),
    10,
  );
  return (query: (context: RequestContext) => ContextAnswer) => {
    counts = nothing();
    const answer = store.read((view) => query(backgroundContext(watchedView(view, counts), now)));
    const done = counts;
    counts = nothing();
    return { answer, counts: done };
  };
}

describe("in memory", () => {
  const run = new Map<string, Awaited<ReturnType<typeof memoryOf>>>();
  beforeAll(async () => {
    for (const [form, count] of [
      ["one credential with the claims of all", 10],
      ["one credential with the claims of all", 10_000],
      ["one credential for each", 10],
      ["one credential for each", 100_000],
    ] as const)
      run.set(`${form} ${count}`, await memoryOf(form, count));
  });

  test.each(cases)("%s: %s reads as many credentials as among ten", async (form, name) => {
    const many = form === "one credential for each" ? 100_000 : 10_000;
    const small = run.get(`${form} 10`)?.(queryNamed(name));
    const large = run.get(`${form} ${many}`)?.(queryNamed(name));
    if (small === undefined || large === undefined) throw new Error("both are there");
    expect(disclosedLists(large.answer)).toEqual(expectedLists[form]);
    // One lookup for alice, one for bob, each of which finds one credential.
    expect(large.counts).toMatchObject({ lookups: 2, found: 2, listings: 0 });
    expect(large.counts.contractReads).toBe(small.counts.contractReads);
    // Each of the two finds its claims by bisection, three times: 2 to the power of 14 is more than 10,000.
    expect(large.counts.subjectReads).toBeGreaterThan(0);
    expect(large.counts.subjectReads).toBeLessThanOrEqual(2 * 3 * (form === "one credential for each" ? 1 : 14));
  });
});

/** A query on PostgreSQL: its statements, the rows that they returned, and the work of the server. */
interface DatabaseRun {
  readonly answer: ContextAnswer;
  readonly roundTrips: number;
  readonly rows: number;
  readonly works: readonly Work[];
}

/** What the server does for each of the statements, all of which fetch. */
async function explain(schema: Schema, calls: readonly (readonly [Statement, unknown[]])[]): Promise<Work[]> {
  const client = await schema.database.openSession();
  const { name, text } = fetchStatement;
  await client.query(`PREPARE "${name}" AS ${text}`);
  const works: Work[] = [];
  for (const [statement, values] of calls) {
    expect(statement.name).toBe(name);
    works.push(workOf(await planOf(client, statement, values)));
    await client.query("ROLLBACK");
  }
  await client.end();
  return works;
}

describe("in PostgreSQL", () => {
  const schemas: Schema[] = [];
  afterAll(() => Promise.all(schemas.map((schema) => schema.drop())));

  async function databaseOf(form: Form, count: number) {
    const schema = await freshSchema();
    schemas.push(schema);
    const { database } = schema;
    const content = { contentId: "tests", origin: "tests" };
    const writer = await PostgresWriter.begin(database, 0, content, (error) => {
      throw error;
    });
    await writer.replace(contractsOf(elementsOf(form, count)), 10);
    const replica = new Replica(database, { templates: registry.templates, contentId: "tests", cacheBytes: 0, clock });
    await replica.refresh();
    return async (query: (context: RequestContext) => ContextAnswer): Promise<DatabaseRun> => {
      const spy = vi.spyOn(database, "query");
      try {
        const answer = await replica.read((view) => query(backgroundContext(view, now)));
        const results = await Promise.all(spy.mock.results.map(({ value }) => value as Promise<unknown[]>));
        const calls = spy.mock.calls as unknown as [Statement, unknown[]][];
        return {
          answer,
          roundTrips: calls.length,
          rows: results.reduce((sum, rows) => sum + rows.length, 0),
          works: await explain(schema, calls),
        };
      } finally {
        spy.mockRestore();
      }
    };
  }

  const run = new Map<string, Awaited<ReturnType<typeof databaseOf>>>();
  beforeAll(async () => {
    for (const [form, count] of [
      ["one credential with the claims of all", 10],
      ["one credential with the claims of all", 10_000],
      ["one credential for each", 10],
      ["one credential for each", 100_000],
    ] as const)
      run.set(`${form} ${count}`, await databaseOf(form, count));
  });

  test.each(cases)("%s: %s fetches as many rows as among ten, in at most five round trips", async (form, name) => {
    const many = form === "one credential for each" ? 100_000 : 10_000;
    const small = await run.get(`${form} 10`)?.(queryNamed(name));
    const large = await run.get(`${form} ${many}`)?.(queryNamed(name));
    if (small === undefined || large === undefined) throw new Error("both are there");
    expect(disclosedLists(large.answer)).toEqual(expectedLists[form]);
    expect(large.roundTrips).toBeLessThanOrEqual(5);
    expect(large.rows).toBe(small.rows);
    // The state once per round trip, and at most nine contracts.
    expect(large.rows).toBeLessThanOrEqual(5 + 9);
    for (const { sequentialScans, rows, pages } of large.works) {
      expect(sequentialScans).toEqual([]);
      // Each found contract is read once or twice by each of a few indexes. A scan would read 10,000 rows and more.
      expect(rows).toBeLessThan(100);
      expect(pages).toBeLessThan(500);
    }
  });
});
