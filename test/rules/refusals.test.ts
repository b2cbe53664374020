/** The codes of refusals, as docs/errors.md lists them. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import {
  allocationFactory,
  burnMintFactory,
  createIssuance,
  executeTransfer,
  onAllocationInstruction,
  onTransfer,
  settlementFactory,
  transferFactory,
  instrument,
} from "../fixtures/calls/operations.js";
import { call as callOf } from "../fixtures/calls/build.js";
import { OperatorService } from "../../gen/offledger/operator/v0/operator_service_pb.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { account, allocationV1, leg, settlement, transferV1 } from "../fixtures/requests.js";
import { CREDENTIALS_REQUIRED, type RulesOptions, rulesOn } from "../fixtures/rules.js";
import { withInputs } from "./inputs.js";
import { complete, groupElements, without } from "./table.js";

const offer = transferFactory("v1", transferV1("alice", "bob"));
const accept = onTransfer("v1", "accept", "offer");
const operator = callOf(OperatorService.method.getOperator);
const settle = (legs: number, ...ids: readonly string[]): Call =>
  settlementFactory(
    settlement(
      Array.from({ length: legs }, () => leg(account("alice"), account("bob"), "USD")),
      ids,
    ),
  );
const second = groupElements("-2", { provider: "provider-2::1220" });
const other = "registrar-2::1220";
const ofOther = [...complete(), element("AllocationFactory", "of-other", payload.service({ registrar: other }))];
const old = { contexts: { packages: { "pkg-1": "0.8.0" } } };

/** The complete registry with one contract elsewhere. */
function moved(id: string, options: Options): JsonObject[] {
  const credential = element("Credential", "alice-holds", payload.credential("alice", ["holds=USD"]), options);
  const all = [...groupElements("", {}, {}, options), credential];
  return [...without(id, complete()), ...all.filter((one) => JSON.stringify(one).includes(`"contractId":"${id}"`))];
}
const moving: Options = { moving: "unassigned" };

describe("the code of a refusal", () => {
  test.each<[code: string, status: number, elements: readonly JsonObject[], Call, RulesOptions?]>([
    ["invalid-argument", 400, complete(), allocationFactory("v1", allocationV1("", "bob"))],
    ["limit-exceeded", 400, complete(), settle(101)],
    ["several-groups", 400, [...complete(), ...second], settle(1, "allocation", "allocation-2")],
    ["blocklist-not-configured", 400, complete({ checkBlocklist: true }), offer],
    ["instruction-never-pending", 400, complete(), onAllocationInstruction("accept", "allocation")],
    ["registrar-not-served", 404, without("factory", complete()), offer],
    ["factory-missing", 404, [...complete(), ...without("factory-2", second)], withInputs(offer, ["locked-2"])],
    ["version-not-supported", 404, complete(), settle(1), old],
    ["instrument-unknown", 404, complete(), instrument(parties.registrar, "GBP")],
    ["instruction-unknown", 404, complete(), onTransfer("v1", "accept", "00ff")],
    ["instruction-archived", 404, complete(), accept, { archived: ["offer"] }],
    ["instruction-unknown", 404, ofOther, onTransfer("v1", "accept", "offer", other), { archived: ["offer"] }],
    ["configuration-missing", 404, complete(), createIssuance("mint", "offer", "alice", "GBP")],
    ["rule-missing", 404, without("rule", complete()), accept],
    ["credential-missing", 404, without("alice-holds", complete()), offer, CREDENTIALS_REQUIRED],
    ["holding-missing", 404, without("locked", complete()), executeTransfer("allocation")],
    ["holding-archived", 404, complete(), withInputs(burnMintFactory([]), ["locked"]), { archived: ["locked"] }],
    ["operator-unknown", 404, [], operator],
    ["factory-moving", 409, moved("factory", moving), offer],
    ["configuration-moving", 409, moved("usd", moving), accept],
    ["rule-moving", 409, moved("rule", moving), accept],
    ["credential-moving", 409, moved("alice-holds", moving), offer],
    ["holding-moving", 409, moved("locked", moving), accept],
    ["instruction-moving", 409, moved("offer", moving), accept],
    ["no-common-synchronizer", 409, moved("rule", { synchronizerId: "sync-B" }), accept],
  ])("%s", async (code, status, elements, call, options = {}) => {
    await expect(rulesOn(elements, options).body(call)).rejects.toMatchObject({ code, status });
  });
});
