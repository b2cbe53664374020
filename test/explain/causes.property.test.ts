/**
 * What is missing is named: from a registry of 1,000 instruments, one or two contracts are taken away, moved or expired. The
 * causes name exactly them, and once they are back the request succeeds. What is expected is written by hand, from what
 * was taken away.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Cause } from "../../src/domain/errors.js";
import type { Change, Contract } from "../../src/domain/contract.js";
import { alreadyCaughtUp } from "../../src/domain/ledger.js";
import type { JsonObject } from "../../src/domain/json.js";
import { Decoder } from "../../src/ledger/decode.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import { MIN_SETTLEMENT_LIMITS } from "../../src/registry/utility/allocation.js";
import { compileContexts } from "../../src/registry/utility/contexts.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { services } from "../../src/service/services.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { createExplainer } from "../../src/transport/explainer.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { elements, INSTRUMENTS, type Kind, type Place, REGISTRARS, situations } from "./world.js";

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

async function createWorld() {
  const store = new MemoryStore();
  const contracts = new Map(
    elements()
      .flatMap(decodeAny)
      .map((one) => [one.contractId, one]),
  );
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
  return {
    async causesOf(operation: string, request: JsonObject): Promise<readonly string[]> {
      const { refusal } = await explainer.explain({ operation, request }, undefined);
      return (refusal?.causes ?? []).map(describe).toSorted();
    },
    apply: (changes: readonly Change[]) => store.apply(changes, ++offset),
    /** The contract as it is next: its counter grows with each reassignment. */
    at({ id }: Place, synchronizerId?: string): Contract {
      const found = contracts.get(id);
      if (found === undefined) throw new Error(`${id} is no contract of this test`);
      return { ...found, synchronizerId: synchronizerId ?? found.synchronizerId, reassignmentCounter: offset + 1 };
    },
  };
}

type World = Awaited<ReturnType<typeof createWorld>>;

const faults = ["archived", "moving", "elsewhere", "expired"] as const;
interface Taken {
  readonly place: Place;
  readonly fault: (typeof faults)[number];
}

function take(world: World, { place, fault }: Taken): Promise<void> {
  const active = world.at(place, "sync-B");
  const { contractId, reassignmentCounter } = active;
  switch (fault) {
    case "archived":
      return world.apply([{ archived: contractId }]);
    case "moving":
      return world.apply([{ unassigned: contractId, reassignmentCounter }]);
    case "elsewhere":
      return world.apply([{ active }]);
    case "expired":
      return world.apply([{ archived: contractId }, ...decodeAny(ended(place)).map((one) => ({ active: one }))]);
  }
}

/** The credential under another id, with an end in the past. */
function ended({ id, element }: Place): JsonObject {
  const text = JSON.stringify(element).replaceAll(`"contractId":"${id}"`, `"contractId":"${id}-ended"`);
  return JSON.parse(text.replace(/"validUntil":(null|"[^"]*")/, '"validUntil":"2026-05-01T00:00:00Z"')) as JsonObject;
}

const putBack = (world: World, { place }: Taken): Promise<void> =>
  world.apply([{ archived: `${place.id}-ended` }, { active: world.at(place) }]);

const missingCode: Readonly<Record<Kind, string>> = {
  factory: "registrar-not-served",
  configuration: "configuration-missing",
  rule: "rule-missing",
  credential: "credential-missing",
  holding: "holding-missing",
  instruction: "instruction-archived",
};

/** The cause that a fault must have, as `code what`. */
function expectedCause({ place: { kind, id, names }, fault }: Taken): string {
  if (fault === "moving") return `${kind}-moving ${id}`;
  return fault === "elsewhere" ? `no-common-synchronizer ${id}` : `${missingCode[kind]} ${names}`;
}

function describe({ code, contractId, party, instrument, registrar }: Cause): string {
  return `${code} ${contractId ?? (code.startsWith("credential") ? party : (instrument ?? registrar))}`;
}

/** An archived contract is gone with what it says: a configuration with its credentials, an allocation with its holding. */
const hides = ({ place, fault }: Taken, other: Taken): boolean =>
  fault === "archived" &&
  ((place.kind === "configuration" && other.place.kind === "credential") ||
    (place.kind === "instruction" && other.place.kind === "holding"));

/** Without the contract that a request is answered with, nothing else is looked for; it decides the synchronizer. */
function canHappen(taken: readonly Taken[], answeredWith: Place | undefined): boolean {
  const [one, two] = taken;
  if (taken.some(({ place, fault }) => fault === "expired" && place.kind !== "credential")) return false;
  if (one === undefined) return false;
  if (two === undefined) return one.place !== answeredWith || one.fault !== "elsewhere";
  const isOfOthers = taken.every(({ place }) => place !== answeredWith);
  return one.place !== two.place && isOfOthers && !hides(one, two) && !hides(two, one);
}

const drawn = fc.record({
  index: fc.nat(situations.length - 1),
  r: fc.nat(REGISTRARS - 1),
  i: fc.nat(INSTRUMENTS - 1),
  draws: fc.array(fc.record({ at: fc.nat(100), fault: fc.constantFrom(...faults) }), { minLength: 1, maxLength: 2 }),
});

test("contracts that are missing, moving, elsewhere or ended are named, and no others", async () => {
  const world = await createWorld();
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(drawn, async ({ index, r, i, draws }) => {
      const situation = situations[index]?.(r, i);
      if (situation === undefined) throw new Error(`there is no situation ${index}`);
      const { operation, body, needs } = situation;
      const taken = draws.flatMap(({ at, fault }) => {
        const place = needs[at % needs.length];
        return place === undefined ? [] : [{ place, fault }];
      });
      fc.pre(canHappen(taken, needs[0]));
      for (const one of taken) await take(world, one);
      const causes = await world.causesOf(operation, body);
      for (const one of taken) await putBack(world, one);
      expect(causes).toEqual(taken.map(expectedCause).toSorted());
      expect(await world.causesOf(operation, body)).toEqual([]);
      for (const { place, fault } of taken) seen.add(`${index} ${place.kind} ${fault}`);
    }),
    { numRuns: 1_000 },
  );
  // Nearly all combinations of a request, a kind of contract and a fault had a case.
  expect(seen.size).toBeGreaterThanOrEqual(60);
});
