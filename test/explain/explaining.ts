/** Explanations of requests to the Registry Utility, as the operator's port gives them, without a service. */
import { fromJson } from "@bufbuild/protobuf";
import { ExplainRequestSchema } from "../../gen/offledger/explain/v1/explain_pb.js";
import type { JsonObject } from "../../src/util/json.js";
import { explain } from "../../src/service/explain.js";
import { services } from "../../src/service/services.js";
import type { StoreReader } from "../../src/state/port.js";
import { createExplainer } from "../../src/transport/explainer.js";
import { toBuffer } from "../../src/transport/encoding/disclosed-contract.js";
import { rpcs } from "../../src/transport/rpcs.js";
import { executorOn, storeOf, utilityWith } from "../fixtures/in-memory.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

export const NOW = Date.parse("2026-06-01T00:00:00Z");

interface CauseJson {
  readonly code: string;
  readonly party: string;
  readonly contractId: string;
  readonly instrument: string;
  readonly registrar: string;
}

/** The response as JSON. Only what the tests read. */
export interface ExplainJson {
  readonly succeeds: boolean;
  readonly answer?: JsonObject;
  readonly status: string;
  readonly error: string;
  readonly causes: readonly CauseJson[];
  readonly changes: readonly { readonly cause: CauseJson; readonly help: string }[];
  readonly notes: readonly string[];
  readonly searches: readonly {
    readonly name: string;
    readonly omittedCandidates: number;
    readonly entries: readonly string[];
    readonly candidates: readonly { contract: { contractId: string }; chosen: boolean; reason: string }[];
  }[];
  readonly requirements: readonly {
    readonly party: string;
    readonly claims: readonly { credential: string; passedOver: { reason: string }[]; omittedPassedOver: number }[];
  }[];
  readonly validUntil?: string;
}

type Explain = (operation: string, request?: JsonObject, at?: string) => Promise<ExplainJson>;

/** `operation` is an rpc, or method and path. Rejects where there is no such operation. */
export function explainerOn(reader: StoreReader, registry = utilityWith(), now = NOW): Explain {
  const report = (defect: unknown): never => {
    throw defect;
  };
  const options = { overrides: new Map(), countsHoldings: false, openApi: {}, notReadyReason: () => undefined };
  const bindings = services(executorOn(reader, registry, now), options);
  const limits = TEST_SERVER_OPTIONS.arguments;
  const binding = explain({
    explainer: createExplainer({ bindings, limits, report, now: () => now }),
    refusals: { find: () => undefined },
    packageVersion: () => undefined,
    preparer: undefined,
  });
  const served = rpcs([binding], report, limits).find(({ name }) => name.endsWith("/Explain"));
  return async (operation, request = { meta: {} }, at) => {
    const message = fromJson(ExplainRequestSchema, { call: { operation, request }, ...(at !== undefined && { at }) });
    if (served === undefined) throw new Error("Explain is not served");
    const result = await served.call(message);
    return JSON.parse(toBuffer(served.encode(result, message, "json")).toString()) as ExplainJson;
  };
}

/** `contexts` is the content of the operator's contexts file. */
export async function explaining(elements: readonly JsonObject[], contexts: JsonObject = {}): Promise<Explain> {
  const registry = utilityWith(contexts);
  return explainerOn(await storeOf(elements, registry), registry);
}
