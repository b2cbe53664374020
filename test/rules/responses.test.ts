/** The form of every response: fields of disclosed contracts, debug fields, no nulls; contracts are passed on unchanged. */
import { fromJson, type JsonObject, type JsonValue, type Message } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { onAllocation, onIssuance, onTransfer } from "../fixtures/calls/operations.js";
import { blobOf, element, payload } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { refused, rulesOn } from "../fixtures/rules.js";
import { complete, table } from "./table.js";

const rules = rulesOn(complete());
const isUtility = ({ path }: Call): boolean => path.startsWith("/api/utilities/");
const withBody = (call: Call, more: JsonObject): Call => ({ ...call, body: { ...(call.body as JsonObject), ...more } });

interface Disclosed {
  readonly contractId: string;
  readonly [field: string]: JsonValue;
}
const disclosedIn = (response: JsonObject): readonly Disclosed[] =>
  ((response["choiceContext"] ?? response) as unknown as { disclosedContracts: Disclosed[] }).disclosedContracts;

/** A copy without any field whose name starts with `debug`. */
const withoutDebugFields = (response: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(response), (name, value: JsonValue) =>
    name.startsWith("debug") ? undefined : value,
  ) as JsonObject;

describe.each(table)("the response to $name", ({ call, name }) => {
  test("has the fields of its API for each contract, and no null but in a payload", async () => {
    const response = await rules.body(call);
    const fields = isUtility(call)
      ? "contractId createdAt createdEventBlob domainId synchronizerId templateId"
      : "contractId createdEventBlob debugCreatedAt debugPackageName debugPayload synchronizerId templateId";
    for (const contract of disclosedIn(response)) expect(Object.keys(contract).toSorted().join(" ")).toBe(fields);
    expect(JSON.stringify(withoutDebugFields(response))).not.toContain("null");
    expect("transferKind" in response).toBe(name.includes("transfer-factory"));
    expect(Object.keys(response)).toEqual(
      "factoryId" in response
        ? ["factoryId", ...("transferKind" in response ? ["transferKind"] : []), "choiceContext"]
        : ["choiceContextData", "disclosedContracts"],
    );
  });

  test("leaves out debug fields on request, ignores what it does not know, and rejects another type", async () => {
    const response = await rules.body(call);
    expect(await rules.body(withBody(call, { excludeDebugFields: true }))).toEqual(
      isUtility(call) ? response : withoutDebugFields(response),
    );
    const more = { excludeDebugFields: false, unknown: { deep: [1, null] }, excludeDebugField: true };
    expect(await rules.body(withBody(call, isUtility(call) ? { unknown: [null] } : more))).toEqual(response);
    if (isUtility(call)) return;
    for (const excludeDebugFields of ["yes", 1, {}])
      expect(await rules.ask(withBody(call, { excludeDebugFields }))).toEqual(refused(400, "excludeDebugFields"));
  });
});

describe("a disclosed contract", () => {
  const argument = payload.configuration("USD", {
    providerAppRewardBeneficiaries: null,
    added: {
      later: null,
      list: [null, [], {}, { deep: null }],
      number: "12.5000000000",
      flag: false,
      text: "é\u2028\\",
    },
  });

  test("has its payload and its time unchanged, with null and unknown fields", async () => {
    const createdAt = "2026-02-05T09:00:00.123456Z";
    const configuration = element("InstrumentConfiguration", "usd", argument, { createdAt });
    const response = await rulesOn(registryOf({ configuration }, ...instructions())).body(
      onTransfer("v2", "accept", "offer"),
    );
    expect(disclosedIn(response).find(({ contractId }) => contractId === "usd")).toStrictEqual({
      templateId: "pkg-1:Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration",
      contractId: "usd",
      createdEventBlob: blobOf("usd"),
      synchronizerId: "sync-A",
      debugPackageName: "utility-registry-v0",
      debugPayload: argument,
      debugCreatedAt: createdAt,
    });
  });

  test.each(["CgMy/+8=", "CgMyLjE=", "/+8=", "QUJD".repeat(50_000)])(
    "has its blob unchanged (case %#)",
    async (blob) => {
      const holding = element("Holding", "locked", payload.lockedHolding("alice", "USD"), { blob });
      const request = element("BurnRequest", "request", payload.burn("alice", "USD", { lockedHoldingCid: "locked" }));
      const allocation = element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked"));
      const of = rulesOn(registryOf({}, allocation, request, holding));
      for (const call of [
        onAllocation("v1", "cancel", "allocation"),
        onIssuance("burn", "request", "cancel", "request"),
      ])
        expect(disclosedIn(await of.body(call)).map(({ createdEventBlob }) => createdEventBlob === blob)).toEqual([
          true,
        ]);
    },
  );
});

describe("typed arguments", () => {
  /** The forms of choice arguments in generated code, by the rows that send them. */
  const forms = {
    "v1 transfer-factory": "transferV1",
    "v2 transfer-factory": "transferV2",
    "v1 allocation-factory": "allocateV1",
    "v2 allocation-factory": "allocateV2",
    "settlement-factory": "settleBatchV2",
  };
  const rows = table.flatMap(({ name, call }) => {
    const form = forms[name.replace(/,.*/, "") as keyof typeof forms] as string | undefined;
    return form === undefined ? [] : [{ name, call, form }];
  });

  test.each(rows)("give the response that REST gives for JSON: $name", async ({ call, form }) => {
    const { choiceArguments, ...others } = call.request as JsonObject;
    // The typed messages have no extra arguments.
    const { extraArgs: _, ...fields } = choiceArguments as JsonObject;
    const message: Message = fromJson(call.method.input, { ...others, [form]: fields });
    expect(await rules.message(call.method, message)).toEqual(await rules.body(call));
    expect(await rules.ask({ ...call, body: { [form]: fields } })).toEqual(
      refused(400, "choiceArguments: value is required"),
    );
    expect(await rules.body(withBody(call, { [form]: 1 }))).toEqual(await rules.body(call));
  });

  test("every factory is compared", () => {
    expect(rows).toHaveLength(6 + 2 + 1);
  });
});
