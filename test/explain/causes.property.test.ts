/**
 * What is missing is named: from a registry of 1,000 instruments, one or two contracts are taken away, moved or expired. The
 * causes name exactly them, and once they are back the request succeeds. What is expected is written by hand, from what
 * was taken away.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change, StoredContract } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/domain/json.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import { requireCredentials } from "../fixtures/contexts.js";
import { element, payload, requirement } from "../fixtures/elements.js";
import { contractsOf, utilityWith } from "../fixtures/in-memory.js";
import * as requests from "../fixtures/requests.js";
import { type ExplainJson, explainerOn } from "./explaining.js";

const [REGISTRARS, INSTRUMENTS] = [10, 100];
const PARTIES = ["alice", "bob", "carol", "dan", "erin"] as const;
const registry = utilityWith({ changes: [requireCredentials] });

type Kind = "factory" | "configuration" | "rule" | "credential" | "holding" | "instruction";

/** A contract that can be taken away. */
interface Place {
  readonly kind: Kind;
  readonly id: string;
  /** What a cause about its absence names. */
  readonly names: string;
  readonly element: JsonObject;
}

/** A request as a caller sends it, and all that it needs. */
type Situation = readonly [operation: string, body: JsonObject, needs: readonly Place[]];

const places = new Map<string, Place>();

/** What requests about the instrument `i` of the registrar `r` need. */
function situationsOf(r: number, i: number): readonly Situation[] {
  const [registrar, instrument, issuer] = [`registrar-${r}::1220`, `INST-${i}`, `issuer-${r}::1220`];
  const [sender, receiver] = [PARTIES[i % 5] ?? "", PARTIES[(i + 1) % 5] ?? ""];
  /** For another registrar and instrument than the fixtures'. */
  const own = (fields: JsonObject) => {
    const text = JSON.stringify(fields).replaceAll("registrar::1220", registrar);
    return JSON.parse(text.replaceAll('"USD"', JSON.stringify(instrument))) as JsonObject;
  };
  const place = (
    kind: Kind,
    id: string,
    names: string,
    ...[template, argument]: [Parameters<typeof element>[0], JsonObject]
  ) => {
    const known = places.get(id) ?? { kind, id, names, element: element(template, id, argument) };
    places.set(id, known);
    return known;
  };
  const requirements = [requirement(["holds=all"], issuer)];
  const needed = { holderRequirements: requirements, issuerRequirements: requirements };
  const configured = own(payload.configuration("USD", needed));
  const credential = (party: string) => {
    const held = payload.credential(party, ["holds=all"], { issuer });
    return place("credential", `credential-${r}-${party}`, party, "Credential", held);
  };
  const holding = (id: string) => place("holding", id, id, "Holding", own(payload.lockedHolding(sender, "USD")));
  const instruction = (id: string, ...form: [Parameters<typeof element>[0], JsonObject]) =>
    place("instruction", id, id, form[0], own(form[1]));

  const factory = place("factory", `factory-${r}`, registrar, "AllocationFactory", payload.service({ registrar }));
  const rule = place("rule", `rule-${r}`, registrar, "TransferRule", payload.service({ registrar }));
  const configuration = place(
    "configuration",
    `configuration-${r}-${i}`,
    instrument,
    "InstrumentConfiguration",
    configured,
  );
  const both = [credential(sender), credential(receiver)] as const;
  const locked = holding(`holding-allocation-${r}-${i}`);
  const { id: offered } = holding(`holding-offer-${r}-${i}`);
  const offer = instruction(`offer-${r}-${i}`, "TransferOffer", payload.offer(sender, receiver, "USD", offered));
  const leg = payload.allocation(sender, receiver, "USD", locked.id);
  const allocation = instruction(`allocation-${r}-${i}`, "DvpLegAllocation", leg);

  const creates = [factory, configuration, both[0]];
  const [from, to] = [requests.account(sender), requests.account(receiver)];
  const batch = requests.settlement([requests.leg(from, to, "USD")], [allocation.id]);
  const minting = { holder: sender, instrumentId: { admin: registrar, id: instrument } };
  const meta = { meta: {} };
  const executes = [configuration, rule, ...both];
  return [
    [requests.transferFactory(registrar), own(requests.transferV1(sender, receiver)), creates],
    [requests.allocationFactory("v1", registrar), own(requests.allocationV1(sender, receiver)), creates],
    // The receiver sees the locked holding.
    [requests.transferChoice("v1", "accept")(offer.id, registrar), meta, [offer, ...executes]],
    [
      requests.allocationChoice("v1", "execute-transfer")(allocation.id, registrar),
      meta,
      [allocation, ...executes, locked],
    ],
    [requests.settlementFactory(registrar), own(batch), [factory, ...executes, allocation, locked]],
    [requests.issuance("mint", "request"), minting, creates],
  ];
}
const SITUATIONS = situationsOf(0, 0).length;

async function createWorld() {
  for (let r = 0; r < REGISTRARS; r++) for (let i = 0; i < INSTRUMENTS; i++) situationsOf(r, i);
  const all = contractsOf(
    Array.from(places.values(), (one) => one.element),
    registry,
  );
  const contracts = new Map(all.map((one) => [one.contractId, one]));
  const store = new MemoryStore();
  await store.replace(all, 1);
  const explain = explainerOn(store, registry);
  let offset = 1;
  return {
    causesOf: async (path: string, request: JsonObject) =>
      (await explain(`POST ${path}`, request)).causes.map(describe).toSorted(),
    apply: (changes: readonly Change[]) => store.apply(changes, ++offset),
    /** The contract as it is next: its counter grows with each reassignment. */
    at({ id }: Place, synchronizerId?: string): StoredContract {
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
  const changes: Record<Taken["fault"], () => readonly Change[]> = {
    archived: () => [{ archived: contractId }],
    moving: () => [{ unassigned: contractId, reassignmentCounter }],
    elsewhere: () => [{ active }],
    expired: () => [{ archived: contractId }, ...contractsOf([ended(place)], registry).map((one) => ({ active: one }))],
  };
  return world.apply(changes[fault]());
}

/** The credential under another id, with an end in the past. */
function ended({ id, element: given }: Place): JsonObject {
  const text = JSON.stringify(given).replaceAll(`"contractId":"${id}"`, `"contractId":"${id}-ended"`);
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

function describe({ code, contractId, party, instrument, registrar }: ExplainJson["causes"][number]): string {
  return `${code} ${contractId || (code.startsWith("credential") ? party : instrument || registrar)}`;
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
  index: fc.nat(SITUATIONS - 1),
  r: fc.nat(REGISTRARS - 1),
  i: fc.nat(INSTRUMENTS - 1),
  draws: fc.array(fc.record({ at: fc.nat(100), fault: fc.constantFrom(...faults) }), { minLength: 1, maxLength: 2 }),
});

test("contracts that are missing, moving, elsewhere or ended are named, and no others", async () => {
  const world = await createWorld();
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(drawn, async ({ index, r, i, draws }) => {
      const [path, body, needs] = situationsOf(r, i)[index] ?? ["", {}, []];
      const taken = draws.flatMap(({ at, fault }) => {
        const place = needs[at % needs.length];
        return place === undefined ? [] : [{ place, fault }];
      });
      fc.pre(canHappen(taken, needs[0]));
      for (const one of taken) await take(world, one);
      const causes = await world.causesOf(path, body);
      for (const one of taken) await putBack(world, one);
      expect(causes).toEqual(taken.map(expectedCause).toSorted());
      expect(await world.causesOf(path, body)).toEqual([]);
      for (const { place, fault } of taken) seen.add(`${index} ${place.kind} ${fault}`);
    }),
    { numRuns: 1_000 },
  );
  // Nearly all combinations of a request, a kind of contract and a fault had a case.
  expect(seen.size).toBeGreaterThanOrEqual(60);
});
