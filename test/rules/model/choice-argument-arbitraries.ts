/** Random arguments for creating transfers and allocations, in the encoding of the JSON Ledger API. */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import { isObject, read } from "./ledger.js";
import { instrument, party, rarely, registrars, trader } from "./names.js";

const meta = { values: {} };
const extraArgs = { context: { values: {} }, meta };

/** Mostly the registrar of the path. */
const adminOf = (of: string): fc.Arbitrary<string> =>
  fc.oneof({ weight: 40, arbitrary: fc.constant(of) }, { weight: 1, arbitrary: fc.constantFrom(...registrars) });

export const account: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 12, arbitrary: trader.map((owner): JsonValue => ({ owner, provider: null, id: "" })) },
  { weight: 2, arbitrary: trader.map((owner): JsonValue => ({ owner, provider: "bank::1220", id: "savings" })) },
  { weight: 2, arbitrary: trader.map((owner): JsonValue => ({ provider: owner, id: "" })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonValue>("gold::1220", "silver::1220").map((owner) => ({ owner, id: "" })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom("cip-112/mint", "cip-112/burn")
      .map((id): JsonValue => ({ owner: null, provider: null, id })),
  },
);
const wrongAccount: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  { owner: null, provider: null, id: "savings" },
  { id: "" },
  { owner: null, provider: null, id: "cip-112/sender" },
);
export const anyAccount = fc.oneof({ weight: 40, arbitrary: account }, { weight: 1, arbitrary: wrongAccount });

/** Account data in the metadata of version 1; most requests have none. */
const metaV1: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<JsonObject>(meta) },
  {
    weight: 1,
    arbitrary: fc
      .record(
        {
          "cip-112/sender.id": fc.constantFrom("cip-112/mint", "cip-112/burn", "savings"),
          "cip-112/sender.provider": trader,
          "cip-112/receiver.id": fc.constantFrom("cip-112/mint", "cip-112/burn", "savings"),
          "cip-112/receiver.provider": trader,
        },
        { requiredKeys: [] },
      )
      .map((values): JsonObject => ({ values: { ...values } })),
  },
);

/** Removes a field, once in a while. */
const damaged = (choice: fc.Arbitrary<JsonObject>, paths: readonly string[]): fc.Arbitrary<JsonObject> =>
  fc.tuple(choice, rarely(40), fc.constantFrom(...paths)).map(([whole, isDamaged, path]) => {
    const copy = structuredClone(whole);
    const steps = path.split(".");
    const last = steps.pop() ?? "";
    const inner = steps.length === 0 ? copy : read(copy, steps.join("."));
    if (isDamaged && isObject(inner)) delete inner[last];
    return copy;
  });

export const transferChoice = (registrar: string): fc.Arbitrary<JsonObject> => {
  const common = { amount: fc.constant("1.0"), instrumentId: fc.record({ admin: adminOf(registrar), id: instrument }) };
  const v1 = fc.record({
    expectedAdmin: adminOf(registrar),
    transfer: fc.record({ sender: party, receiver: party, meta: metaV1, ...common }),
    extraArgs: fc.constant<JsonObject>(extraArgs),
  });
  const v2 = fc.record({
    transfer: fc.record({ sender: anyAccount, receiver: anyAccount, meta: metaV1, ...common }),
    actors: fc.constant<JsonValue>([]),
    extraArgs: fc.constant<JsonObject>(extraArgs),
  });
  const paths = [
    "transfer",
    "transfer.sender",
    "transfer.receiver",
    "transfer.instrumentId.id",
    "transfer.instrumentId",
  ];
  return damaged(fc.oneof<fc.Arbitrary<JsonObject>[]>(v1, v2), paths);
};

export const funding = fc.oneof<fc.Arbitrary<JsonValue>[]>(
  fc.constant(null),
  fc.constant({}),
  fc.uniqueArray(instrument, { maxLength: 2 }).map((ids) => Object.fromEntries(ids.map((id) => [id, "1.0"]))),
);
export const legSide = fc.record({
  transferLegId: fc.constant("leg"),
  side: fc.constantFrom("SenderSide", "ReceiverSide"),
  otherside: account,
  amount: fc.constant("1.0"),
  instrumentId: instrument,
  meta: fc.constant<JsonObject>(meta),
});

export const allocationChoice = (registrar: string): fc.Arbitrary<JsonObject> => {
  const v1 = fc.record({
    expectedAdmin: adminOf(registrar),
    allocation: fc.record({
      transferLegId: fc.constant("leg"),
      transferLeg: fc.record({
        sender: party,
        receiver: party,
        amount: fc.constant("1.0"),
        instrumentId: fc.record({ admin: adminOf(registrar), id: instrument }),
        meta: metaV1,
      }),
    }),
  });
  const v2 = fc.record({
    allocation: fc.record(
      {
        admin: adminOf(registrar),
        authorizer: anyAccount,
        transferLegSides: fc.array(legSide, { maxLength: 3 }),
        nextIterationFunding: funding,
        committed: fc.boolean(),
      },
      { requiredKeys: ["admin", "authorizer", "transferLegSides", "committed"] },
    ),
    actors: fc.constant<JsonValue>([]),
  });
  const paths = [
    "allocation",
    "allocation.transferLeg",
    "allocation.transferLegSides",
    "allocation.authorizer",
    "allocation.transferLeg.sender",
    "allocation.transferLeg.instrumentId",
  ];
  return damaged(fc.oneof<fc.Arbitrary<JsonObject>[]>(v1, v2), paths);
};
