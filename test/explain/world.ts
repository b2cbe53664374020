/** A registry of ten registrars with a hundred instruments each, and what each request about them needs. */
import type { JsonObject } from "../../src/domain/json.js";
import { element, payload, requirement } from "../fixtures/elements.js";
import * as requests from "../fixtures/requests.js";

export const REGISTRARS = 10;
export const INSTRUMENTS = 100;
const PARTIES = ["alice", "bob", "carol", "dan", "erin"] as const;
const CLAIM = "holds=all";

export const registrarOf = (r: number): string => `registrar-${r}::1220`;
export const instrumentOf = (i: number): string => `INST-${i}`;
const sender = (i: number): string => PARTIES[i % PARTIES.length] ?? "";
const receiver = (i: number): string => PARTIES[(i + 1) % PARTIES.length] ?? "";
const issuerOf = (r: number): string => `issuer-${r}::1220`;

export type Kind = "factory" | "configuration" | "rule" | "credential" | "holding" | "instruction";

/** A contract that can be taken away. */
export interface Place {
  readonly kind: Kind;
  readonly id: string;
  /** What a cause about its absence names. */
  readonly names: string;
  readonly element: JsonObject;
}

export interface Situation {
  /** Method and path, as a caller sends them. */
  readonly operation: string;
  readonly body: JsonObject;
  /** All that it needs. */
  readonly needs: readonly Place[];
}

const as = (r: number): JsonObject => ({ registrar: registrarOf(r) });
/** For another registrar and instrument than the fixtures'. */
function of(r: number, i: number, fields: JsonObject): JsonObject {
  const text = JSON.stringify(fields).replaceAll("registrar::1220", registrarOf(r));
  return JSON.parse(text.replaceAll('"USD"', JSON.stringify(instrumentOf(i)))) as JsonObject;
}

const places = new Map<string, Place>();

function place(kind: Kind, id: string, names: string, make: () => JsonObject): Place {
  const known = places.get(id) ?? { kind, id, names, element: make() };
  places.set(id, known);
  return known;
}

const factory = (r: number): Place =>
  place("factory", `factory-${r}`, registrarOf(r), () =>
    element("AllocationFactory", `factory-${r}`, payload.service(as(r))),
  );

const rule = (r: number): Place =>
  place("rule", `rule-${r}`, registrarOf(r), () => element("TransferRule", `rule-${r}`, payload.service(as(r))));

const requirements = (r: number): JsonObject[] => [{ ...requirement([CLAIM]), issuer: issuerOf(r) }];

const configuration = (r: number, i: number): Place =>
  place("configuration", `configuration-${r}-${i}`, instrumentOf(i), () =>
    element(
      "InstrumentConfiguration",
      `configuration-${r}-${i}`,
      of(
        r,
        i,
        payload.configuration("USD", {
          holderRequirements: requirements(r),
          issuerRequirements: requirements(r),
        }),
      ),
    ),
  );

export const credentialPayload = (r: number, party: string, more: JsonObject = {}): JsonObject =>
  payload.credential(party, [CLAIM], { issuer: issuerOf(r), ...more });

const credential = (r: number, party: string): Place =>
  place("credential", `credential-${r}-${party}`, party, () =>
    element("Credential", `credential-${r}-${party}`, credentialPayload(r, party)),
  );

const holding = (r: number, i: number, of_: string): Place =>
  place("holding", `holding-${of_}-${r}-${i}`, `holding-${of_}-${r}-${i}`, () =>
    element("Holding", `holding-${of_}-${r}-${i}`, of(r, i, payload.lockedHolding(sender(i), "USD"))),
  );

const offer = (r: number, i: number): Place =>
  place("instruction", `offer-${r}-${i}`, `offer-${r}-${i}`, () =>
    element(
      "TransferOffer",
      `offer-${r}-${i}`,
      of(r, i, payload.offer(sender(i), receiver(i), "USD", `holding-offer-${r}-${i}`)),
    ),
  );

const allocation = (r: number, i: number): Place =>
  place("instruction", `allocation-${r}-${i}`, `allocation-${r}-${i}`, () =>
    element(
      "DvpLegAllocation",
      `allocation-${r}-${i}`,
      of(r, i, payload.allocation(sender(i), receiver(i), "USD", `holding-allocation-${r}-${i}`)),
    ),
  );

const both = (r: number, i: number): Place[] => [credential(r, sender(i)), credential(r, receiver(i))];

/** The requests, by kind. */
export const situations: readonly ((r: number, i: number) => Situation)[] = [
  (r, i) => ({
    operation: `POST ${requests.transferFactory(registrarOf(r))}`,
    body: of(r, i, requests.transferV1(sender(i), receiver(i))),
    needs: [factory(r), configuration(r, i), credential(r, sender(i))],
  }),
  (r, i) => ({
    operation: `POST ${requests.allocationFactory("v1", registrarOf(r))}`,
    body: of(r, i, requests.allocationV1(sender(i), receiver(i))),
    needs: [factory(r), configuration(r, i), credential(r, sender(i))],
  }),
  (r, i) => ({
    operation: `POST ${requests.transferChoice("v1", "accept")(offer(r, i).id, registrarOf(r))}`,
    body: { meta: {} },
    // The receiver sees the locked holding.
    needs: [offer(r, i), configuration(r, i), rule(r), ...both(r, i)],
  }),
  (r, i) => ({
    operation: `POST ${requests.allocationChoice("v1", "execute-transfer")(allocation(r, i).id, registrarOf(r))}`,
    body: { meta: {} },
    needs: [allocation(r, i), configuration(r, i), rule(r), ...both(r, i), holding(r, i, "allocation")],
  }),
  (r, i) => ({
    operation: `POST ${requests.settlementFactory(registrarOf(r))}`,
    body: of(
      r,
      i,
      requests.settlement(
        [requests.leg(requests.account(sender(i)), requests.account(receiver(i)), "USD")],
        [allocation(r, i).id],
      ),
    ),
    needs: [factory(r), rule(r), configuration(r, i), ...both(r, i), allocation(r, i), holding(r, i, "allocation")],
  }),
  (r, i) => ({
    operation: `POST ${requests.issuance("mint", "request")}`,
    body: { holder: sender(i), instrumentId: { admin: registrarOf(r), id: instrumentOf(i) } },
    needs: [factory(r), configuration(r, i), credential(r, sender(i))],
  }),
];

/** All contracts. */
export function elements(): readonly JsonObject[] {
  for (let r = 0; r < REGISTRARS; r++)
    for (let i = 0; i < INSTRUMENTS; i++) for (const situation of situations) situation(r, i);
  return Array.from(places.values(), (one) => one.element);
}
