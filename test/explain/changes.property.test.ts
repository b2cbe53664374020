/**
 * What is missing is named: from the demo and from a registry of 1,000 instruments, contracts are taken away, moved and
 * expired. The explanation names exactly them, and once they are back the request succeeds. What is expected is written by
 * hand, from what was taken away. OFFLEDGER_TEST_EXPLANATIONS is the number of cases of each kind.
 */
import { alreadyCaughtUp } from "../../src/domain/freshness.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change } from "../../src/domain/change.js";
import type { Contract } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/domain/json.js";
import type { Cause } from "../../src/domain/cause.js";
import { Decoder } from "../../src/ledger/decode.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import { compileContexts } from "../../src/registry/utility/contexts.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../src/registry/utility/allocation.js";
import type { Explained } from "../../src/service/explain/explainer.js";
import { services } from "../../src/service/services.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { createExplainer } from "../../src/transport/explainer.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { demoElements, demoSituations } from "./demo.js";
import { elements, INSTRUMENTS, type Kind, type Place, REGISTRARS, type Situation, situations } from "./world.js";

const RUNS = Number(process.env.OFFLEDGER_TEST_EXPLANATIONS ?? 5_000);
const NOW = Date.parse("2026-06-01T12:00:00Z");

const registry = utilityRegistry({
  settlementLimits: MIN_SETTLEMENT_LIMITS,
  contexts: compileContexts({ changes: [{ credentials: "required" }] }),
});
const decoder = new Decoder(registry.templates);

/** Empty for a contract that no rule needs. */
function decodeAny(json: JsonObject): Contract[] {
  const contract = decoder.decode(json)?.contract;
  return contract !== undefined && "template" in contract ? [contract] : [];
}

async function createWorld(all: readonly JsonObject[]) {
  const store = new MemoryStore();
  const contracts = new Map(all.flatMap(decodeAny).map((one) => [one.contractId, one]));
  await store.replace(contracts.values(), 1);
  const upToDate = { staleReason: () => undefined, catchUp: alreadyCaughtUp };
  const options = { overrides: new Map(), countsHoldings: false, openApi: {}, notReadyReason: () => undefined };
  const explainer = createExplainer({
    bindings: services(new QueryExecutor(registry, store, upToDate, () => NOW), options),
    limits: TEST_SERVER_OPTIONS.arguments,
    report(defect) {
      throw defect;
    },
    now: () => NOW,
  });
  let offset = 1;
  let counter = 1;
  return {
    explain: (operation: string, request: JsonObject) => explainer.explain({ operation, request }, undefined),
    apply: (changes: readonly Change[]) => store.apply(changes, ++offset),
    contractOf: ({ id }: Place): Contract => {
      const found = contracts.get(id);
      if (found === undefined) throw new Error(`${id} is no contract of this test`);
      return found;
    },
    nextCounter: () => ++counter,
  };
}

type World = Awaited<ReturnType<typeof createWorld>>;

const faults = ["archived", "moving", "elsewhere", "expired"] as const;
type Fault = (typeof faults)[number];

/** The contract as it is now: its place and counter may have changed. */
const at = (contract: Contract, synchronizerId: string, reassignmentCounter: number): Contract => ({
  ...contract,
  synchronizerId,
  reassignmentCounter,
});

async function take(world: World, place: Place, fault: Fault): Promise<void> {
  const contract = world.contractOf(place);
  const { contractId } = contract;
  switch (fault) {
    case "archived":
      return world.apply([{ archived: contractId }]);
    case "moving":
      return world.apply([{ unassigned: contractId, reassignmentCounter: world.nextCounter() }]);
    case "elsewhere":
      return world.apply([{ active: at(contract, "sync-B", world.nextCounter()) }]);
    case "expired": {
      return world.apply([{ archived: contractId }, ...decodeAny(ended(place)).map((active) => ({ active }))]);
    }
  }
}

/** The credential under another id, with an end in the past. */
function ended({ id, element }: Place): JsonObject {
  const text = JSON.stringify(element).replaceAll(`"contractId":"${id}"`, `"contractId":"${id}-ended"`);
  return JSON.parse(text.replace(/"validUntil":(null|"[^"]*")/, '"validUntil":"2026-05-01T00:00:00Z"')) as JsonObject;
}

function putBack(world: World, place: Place): Promise<void> {
  const contract = world.contractOf(place);
  return world.apply([
    { archived: `${place.id}-ended` },
    { active: at(contract, contract.synchronizerId ?? "", world.nextCounter()) },
  ]);
}

const missingCode: Readonly<Record<Kind, string>> = {
  factory: "registrar-not-served",
  configuration: "configuration-missing",
  rule: "rule-missing",
  credential: "credential-missing",
  holding: "holding-missing",
  instruction: "instruction-archived",
};

/** The cause that a fault must have, as `code what`. */
function expectedCause({ kind, id, names }: Place, fault: Fault): string {
  if (fault === "moving") return `${kind}-moving ${id}`;
  return fault === "elsewhere" ? `no-common-synchronizer ${id}` : `${missingCode[kind]} ${names}`;
}

function describe({ code, contractId, party, instrument, registrar }: Cause): string {
  const what = contractId ?? (code.startsWith("credential") ? party : (instrument ?? registrar));
  return `${code} ${what}`;
}

const sorted = (texts: readonly string[]): readonly string[] => texts.toSorted();

const changesOf = ({ refusal, explanation }: Explained): readonly string[] =>
  sorted((explanation?.changes ?? refusal?.causes ?? []).map(describe));

const canHappen = ({ kind }: Place, fault: Fault): boolean => fault !== "expired" || kind === "credential";

const drawn = fc.record({
  situation: fc.nat(1_000),
  r: fc.nat(REGISTRARS - 1),
  i: fc.nat(INSTRUMENTS - 1),
  place: fc.nat(100),
  other: fc.nat(100),
  fault: fc.constantFrom(...faults),
  otherFault: fc.constantFrom(...faults),
});

interface Registry {
  readonly elements: () => readonly JsonObject[];
  readonly situationOf: (situation: number, r: number, i: number) => Situation;
  /** How many of the combinations of a situation, a kind of contract and a fault at least one case had. */
  readonly seen: number;
}

const pick = <T>(list: readonly T[], index: number): T => {
  const found = list[index % list.length];
  if (found === undefined) throw new Error("the list is empty");
  return found;
};

const registries: readonly [string, Registry][] = [
  ["the demo", { elements: () => demoElements, situationOf: (index) => pick(demoSituations, index), seen: 15 }],
  ["1,000 instruments", { elements, situationOf: (index, r, i) => pick(situations, index)(r, i), seen: 60 }],
];

test.each(registries)(
  "%s: one contract that is missing, moving, elsewhere or ended is named, and no other",
  async (_, of) => {
    const world = await createWorld(of.elements());
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(drawn, async ({ situation, r, i, place: index, fault }) => {
        const { operation, body, needs } = of.situationOf(situation, r, i);
        const place = needs[index % needs.length];
        if (place === undefined || !canHappen(place, fault)) return;
        await take(world, place, fault);
        const explained = await world.explain(operation, body);
        await putBack(world, place);
        expect(changesOf(explained)).toEqual([expectedCause(place, fault)]);
        expect(explained.answer).toBeUndefined();
        const again = await world.explain(operation, body);
        expect(again.refusal).toBeUndefined();
        seen.add(`${operation.replaceAll(/\d+/g, "")} ${place.kind} ${fault}`);
      }),
      { numRuns: RUNS },
    );
    expect(seen.size).toBeGreaterThanOrEqual(of.seen);
  },
);

test.each(registries)("%s: of two, both are named", async (_, of) => {
  const world = await createWorld(of.elements());
  await fc.assert(
    fc.asyncProperty(drawn, async ({ situation, r, i, place: index, other: second, fault, otherFault }) => {
      const { operation, body, needs } = of.situationOf(situation, r, i);
      const [one, two] = [needs[index % needs.length], needs[second % needs.length]];
      if (one === undefined || two === undefined || one === two) return;
      if (
        !canHappen(one, fault) ||
        !canHappen(two, otherFault) ||
        hidesOther(operation, [one, fault], [two, otherFault])
      )
        return;
      // With less than six contracts, moving the others may be less than moving two back.
      if (needs.length < 6 && (fault === "elsewhere" || otherFault === "elsewhere")) return;
      await take(world, one, fault);
      await take(world, two, otherFault);
      const explained = await world.explain(operation, body);
      await putBack(world, one);
      await putBack(world, two);
      expect(changesOf(explained)).toEqual(sorted([expectedCause(one, fault), expectedCause(two, otherFault)]));
      const again = await world.explain(operation, body);
      expect(again.refusal).toBeUndefined();
    }),
    { numRuns: RUNS },
  );
});

/**
 * An archived contract is gone with what it says: the only factory hides all else, the instruction of a choice names all else, the allocation of a
 * settlement its holding, a configuration the credentials.
 */
function hidesOther(operation: string, one: readonly [Place, Fault], two: readonly [Place, Fault]): boolean {
  const isSettlement = operation.endsWith("/settlement-factory");
  const hides = ([place, fault]: readonly [Place, Fault], [other]: readonly [Place, Fault]): boolean => {
    if (fault !== "archived") return false;
    // A registrar without a factory is not served.
    if (place.kind === "factory") return true;
    if (place.kind === "instruction") return !isSettlement || other.kind === "holding";
    return place.kind === "configuration" && other.kind === "credential";
  };
  return hides(one, two) || hides(two, one);
}
