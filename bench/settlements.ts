/**
 * A registry for the largest settlement to support: 25 legs in 25 instruments between 50 accounts with an owner and a
 * provider each (100 parties). Each owner needs a credential of both issuers. A settlement discloses 177 contracts: factory
 * and rule, 25 configurations, 100 credentials, 25 allocations with their locked holdings.
 */
import type { JsonObject } from "../src/util/json.js";
import { payload, requirement } from "../test/fixtures/elements.js";
import type { Request } from "./load.js";
import { BASE_PATH, contractId, create, createServices } from "./registry.js";

export const SETTLEMENTS = 20;
const LEGS = 25;
/** Enough for four settlements without a common owner. */
const OWNERS = 200;

const issuers = ["identity-issuer::1220", "accreditation-issuer::1220"];
const meta = { values: {} };
const legs = Array.from({ length: LEGS }, (_, leg) => leg);
const instrumentOf = (leg: number): string => `BENCH-${leg}`;
const owner = (index: number): string => `owner-${index % OWNERS}::1220${"0".repeat(64)}`;
const ownerOf = (settlement: number, leg: number, side: 0 | 1): string => owner(2 * (settlement * LEGS + leg) + side);

export function* generateSettlements(): Generator<JsonObject> {
  yield* createServices();
  const holderRequirements = issuers.map((issuer) => requirement(["isVerified=true"], issuer));
  for (const leg of legs) {
    const configuration = payload.configuration(instrumentOf(leg), { holderRequirements });
    yield create("InstrumentConfiguration", `instrument ${leg}`, configuration);
  }
  for (let index = 0; index < OWNERS; index++) {
    for (const issuer of issuers) {
      const credential = payload.credential(owner(index), ["isVerified=true"], { issuer });
      yield create("Credential", `credential ${index} ${issuer}`, credential);
    }
  }
  for (let settlement = 0; settlement < SETTLEMENTS; settlement++) {
    for (const leg of legs) {
      const [sender, receiver] = [ownerOf(settlement, leg, 0), ownerOf(settlement, leg, 1)];
      const label = `holding ${settlement} ${leg}`;
      const allocation = payload.allocation(sender, receiver, instrumentOf(leg), contractId(label));
      yield create("Holding", label, payload.lockedHolding(sender, instrumentOf(leg)));
      yield create("DvpLegAllocation", `allocation ${settlement} ${leg}`, allocation);
    }
  }
}

export function settlementRequest(settlement: number, hasDebug: boolean): Request {
  const account = (leg: number, side: 0 | 1) => ({
    owner: ownerOf(settlement, leg, side),
    provider: `custodian-of-${ownerOf(settlement, leg, side)}`,
    id: "",
  });
  const body = {
    choiceArguments: {
      settlement: { executors: ["executor::1220"], id: "trade", cid: null, meta },
      transferLegs: legs.map((leg) => ({
        transferLegId: `leg ${leg}`,
        sender: account(leg, 0),
        receiver: account(leg, 1),
        amount: "1.0000000000",
        instrumentId: instrumentOf(leg),
        meta,
      })),
      allocations: legs.map((leg) => ({
        allocationCid: contractId(`allocation ${settlement} ${leg}`),
        extraTransferLegSides: [],
        nextIterationFunding: null,
      })),
      actors: ["executor::1220"],
      extraArgs: { context: meta, meta },
    },
    excludeDebugFields: !hasDebug,
  };
  return {
    path: `${BASE_PATH}/allocation/v2/settlement-factory`,
    type: "application/json",
    body: JSON.stringify(body),
  };
}
