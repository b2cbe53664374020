/** Every operation has the context of its row in the specification's table: the keys in order, and what it discloses. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import {
  allocationFactory,
  burnMintFactory,
  createIssuance,
  executeTransfer,
  onAllocation,
  onAllocationInstruction,
  onTransfer,
  settlementFactory,
  transferFactory,
  info,
  instrument,
  instruments,
} from "../fixtures/calls/operations.js";
import { resultContracts } from "../fixtures/context.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { refused, restAndGrpc, shortOutcome } from "../fixtures/outcomes.js";
import type { Call } from "../fixtures/protocols.js";
import { useRegistry } from "../fixtures/registries.js";
import { account, allocationV1, leg, settlement, transferV1 } from "../fixtures/requests.js";
import { WITH_REWARDS } from "../fixtures/run-service.js";
import {
  complete,
  creations,
  ENABLED,
  factories,
  onInstructions,
  type Row,
  table,
  versions,
  without,
} from "./table.js";

const PREFIX = "utility.digitalasset.com/";
/** What some operations need and others do without, how a refusal names it, and which keys stay without it. */
const missable = [
  {
    contractId: "usd",
    named: 'InstrumentConfiguration of instrument "USD"',
    // Only a transfer to oneself and exits go on: the former with the rule alone.
    written: (key: string, name: string) => !name.endsWith("self") || key.endsWith("/transfer-rule"),
  },
  { contractId: "rule", named: "TransferRule", written: (key: string) => !key.endsWith("/transfer-rule") },
  { contractId: "locked", named: "locked holding locked", written: () => true },
] as const;

const keysOf = ({ values }: JsonObject): string[] => Object.keys(values as JsonObject);
const sorted = (texts: readonly string[]): string[] => texts.toSorted((a, b) => (a < b ? -1 : 1));

test("the table has every operation", () => {
  expect(table).toHaveLength(10 + 4 + 6 + 5 + 12);
  expect(table.filter(({ needsBlocklist }) => needsBlocklist)).toHaveLength(10 + 4 + 2 + 1 + 4);
  expect(table.filter(({ keys }) => keys.includes(ENABLED))).toHaveLength(5 + 4 + 8);
});

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const ask = async (url: () => string, { call }: Pick<Row, "call">) => shortOutcome(await send(url(), call));

  describe("the context", () => {
    const url = useRegistry(complete());

    test.each(table)("of $name", async (row) => {
      const answer = await ask(url, row);
      expect(keysOf(answer)).toEqual(row.keys);
      expect(answer).toMatchObject({ disclosed: row.disclosed });
    });
  });

  describe("the context with rewards", () => {
    const url = useRegistry(complete(), WITH_REWARDS);

    test.each(table)("of $name", async (row) => {
      const { rewardKeys = [], keys, disclosed } = row;
      const answer = await ask(url, row);
      expect(sorted(keysOf(answer))).toEqual(sorted([...keys, ...rewardKeys]));
      const rewards = rewardKeys.length === 0 ? [] : ["reward", "right"];
      expect(answer).toMatchObject({ disclosed: sorted([...disclosed, ...rewards]) });
    });
  });

  describe("the context with bare names", () => {
    const url = useRegistry(complete(), { contexts: { changes: [{ keys: "both" }] } });

    test.each(table)("of $name", async (row) => {
      const answer = await ask(url, row);
      expect(keysOf(answer)).toEqual(row.keys.flatMap((key) => [key, key.replace(PREFIX, "")]));
      const values = answer["values"] as JsonObject;
      for (const key of row.keys) expect(values[key.replace(PREFIX, "")]).toEqual(values[key]);
      expect(answer).toMatchObject({ disclosed: row.disclosed });
    });
  });

  describe.each(missable)("without $contractId", ({ contractId, named, written }) => {
    const url = useRegistry(without(contractId, complete()));
    // Without a rule there is no direct transfer: see preapprovals.test.ts.
    const rows = table.filter(({ name }) => !/direct/.test(name));
    // Without a configuration nobody needs credentials.
    const isKept = (id: string) => id !== contractId && (contractId !== "usd" || !/-(holds|issues)$/.test(id));

    test.each(rows.filter(({ needs }) => needs.includes(contractId)))("there is no $name", async (row) => {
      expect(await ask(url, row)).toEqual(refused(404, named));
    });

    test.each(rows.filter(({ needs }) => !needs.includes(contractId)))("it is left out: $name", async (row) => {
      const answer = await ask(url, row);
      expect(keysOf(answer)).toEqual(row.keys.filter((key) => written(key, row.name)));
      const disclosed = answer["disclosed"] as readonly string[];
      expect(disclosed).toEqual(row.disclosed.filter(isKept));
    });
  });

  describe.each<[string, JsonObject, boolean | undefined]>([
    ["is false", { enableResultContracts: false }, false],
    ["is null", { enableResultContracts: null }, undefined],
    ["is absent", {}, undefined],
  ])("if enableResultContracts %s", (_value, more, written) => {
    const service = element("RegistrarService", "service", payload.service(more));
    const url = useRegistry([...without("service", complete()), service]);

    test.each(table.filter(({ keys }) => keys.includes(ENABLED)))("$name", async (row) => {
      const answer = await ask(url, row);
      expect(keysOf(answer)).toEqual(written === undefined ? row.keys.filter((key) => key !== ENABLED) : row.keys);
      expect(answer).toMatchObject({ values: written === undefined ? {} : resultContracts(written) });
      expect(answer).toMatchObject({ disclosed: row.disclosed });
    });
  });

  describe.each<[string, JsonObject]>([
    ["is paused, as its name", { isPaused: "Paused" }],
    ["is paused, as an object", { isPaused: {} }],
    ["is paused, as true", { isPaused: true }],
    ["checks no blocklist", { checkBlocklist: false }],
    ["does not say whether it checks a blocklist", { checkBlocklist: null, isPaused: null }],
  ])("an instrument that %s", (_what, more) => {
    const url = useRegistry(complete(more));

    test.each(table)("changes nothing: $name", async (row) => {
      const answer = await ask(url, row);
      expect(keysOf(answer)).toEqual(row.keys);
      expect(answer).toMatchObject({ disclosed: row.disclosed });
    });
  });

  describe("an instrument that checks a blocklist", () => {
    const url = useRegistry(complete({ checkBlocklist: true }));

    test.each(table.filter(({ needsBlocklist }) => needsBlocklist))("is a bad request: $name", async (row) => {
      expect(await ask(url, row)).toEqual(refused(400, 'instrument "USD"', parties.registrar, "checkBlocklist"));
    });

    test.each(table.filter(({ needsBlocklist }) => !needsBlocklist))("can be left: $name", async (row) => {
      const answer = await ask(url, row);
      expect(keysOf(answer)).toEqual(row.keys);
      expect(answer).toMatchObject({ disclosed: row.disclosed });
    });
  });

  describe("a registrar without a factory", () => {
    const url = useRegistry(without("factory", complete()));

    test.each(onInstructions)("still answers for a known instruction: $name", async (row) => {
      const answer = await ask(url, row);
      expect(keysOf(answer)).toEqual(row.keys);
      expect(answer).toMatchObject({ disclosed: row.disclosed });
    });

    test.each([...factories, ...creations])("is not served: $name", async (row) => {
      expect(await ask(url, row)).toEqual(refused(404, `registrar ${parties.registrar} is not served here`));
    });
  });

  describe("an unknown registrar is not served", () => {
    const url = useRegistry(complete());
    const nobody = "nobody::1220";
    const theirs = (body: JsonObject): JsonObject =>
      JSON.parse(JSON.stringify(body).replaceAll(parties.registrar, nobody)) as JsonObject;
    const calls: Readonly<Record<string, Call>> = {
      info: info(nobody),
      instruments: instruments(nobody),
      instrument: instrument(nobody, "USD"),
      "settlement-factory": settlementFactory(
        theirs(settlement([leg(account("alice"), account("bob"), "USD")], ["allocation"])),
        nobody,
      ),
      "execute-transfer": executeTransfer("00ff", nobody),
      // The instruction exists, but is another registrar's.
      "execute-transfer of another's allocation": executeTransfer("allocation", nobody),
      "allocation instruction accept": onAllocationInstruction("accept", "00ff", nobody),
      "allocation instruction withdraw": onAllocationInstruction("withdraw", "00ff", nobody),
      "mint offer create": createIssuance("mint", "offer", "alice", "USD", nobody),
      "burn request create": createIssuance("burn", "request", "alice", "USD", nobody),
      "burn-mint-factory": burnMintFactory(["alice"], "USD", nobody),
    };

    const inBothVersions = versions.flatMap((version): [string, Call][] => [
      [`${version} transfer-factory`, transferFactory(version, theirs(transferV1("alice", "bob")), nobody)],
      [`${version} allocation-factory`, allocationFactory(version, theirs(allocationV1("alice", "bob")), nobody)],
      [`${version} transfer accept`, onTransfer(version, "accept", "offer", nobody)],
      [`${version} transfer reject`, onTransfer(version, "reject", "offer", nobody)],
      [`${version} transfer withdraw`, onTransfer(version, "withdraw", "offer", nobody)],
      [`${version} allocation withdraw`, onAllocation(version, "withdraw", "00ff", nobody)],
      [`${version} allocation cancel`, onAllocation(version, "cancel", "00ff", nobody)],
    ]);

    test.each([...Object.entries(calls), ...inBothVersions])("%s", async (_name, call) => {
      expect(await ask(url, { call })).toEqual(refused(404, `registrar ${nobody} is not served here`));
    });

    test("but an unknown contract of a registrar that is served is not known", async () => {
      const answer = await ask(url, { call: onTransfer("v2", "accept", "00ff") });
      expect(answer).toEqual(refused(404, "00ff", "is not known here"));
    });
  });
});
