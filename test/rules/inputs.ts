/** Changes of calls that other tests make. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Call } from "../fixtures/protocols.js";

const INPUTS = new Set(["inputHoldingCids", "holdingContractIds"]);

/** The call with these input holdings, where it has any. */
export const withInputs = (call: Call, ids: readonly string[]): Call =>
  changed(call, (key, value) => (INPUTS.has(key) ? [...ids] : value));

/** The call of a wallet that submits on the synchronizer. */
export const withTarget = (call: Call, synchronizer: JsonValue): Call =>
  changed(call, (key, value) =>
    key === "choiceArguments" ? { ...(value as JsonObject), _targetSynchronizerId: synchronizer } : value,
  );

/** The call on another contract. */
export const onContract = (call: Call, from: string, to: string): Call => ({
  ...call,
  path: call.path.replace(`/${from}/`, `/${to}/`),
});

function changed(call: Call, change: (key: string, value: JsonValue) => JsonValue): Call {
  const of = <T extends JsonValue | undefined>(value: T): T =>
    value === undefined ? value : (JSON.parse(JSON.stringify(value), change) as T);
  return { ...call, body: of(call.body), request: of(call.request) };
}
