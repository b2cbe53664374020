import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { JsonObject, JsonValue } from "../../domain/json.js";
import type { Verdict } from "../../domain/ledger.js";

/** `PreparedTransaction.metadata` and `Metadata.synchronizer_id` in interactive_submission_service.proto of Canton 3.5. */
const METADATA = 2;
const SYNCHRONIZER_ID = 3;

/** The verdict of a successful response; undefined if it is not one. The transaction itself is dropped. */
export function readPrepared(body: JsonValue | undefined): Verdict | undefined {
  const { preparedTransaction, costEstimation } = fieldsOf(body);
  if (typeof preparedTransaction !== "string" || preparedTransaction === "") return undefined;
  const { totalTrafficCostEstimation: cost } = fieldsOf(costEstimation);
  return {
    succeeds: true,
    error: "",
    errorCode: "",
    synchronizer: synchronizerOf(preparedTransaction),
    trafficCost: typeof cost === "number" && Number.isSafeInteger(cost) ? cost : undefined,
  };
}

const fieldsOf = (value: JsonValue | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};

/**
 * The synchronizer of a prepared transaction, which is protobuf in base64. Empty if it cannot be read: the verdict does
 * not depend on it, and a later version of the participant may encode it differently.
 */
function synchronizerOf(preparedTransaction: string): string {
  try {
    const metadata = fieldOf(Buffer.from(preparedTransaction, "base64"), METADATA);
    const id = metadata && fieldOf(metadata, SYNCHRONIZER_ID);
    return id === undefined ? "" : logicalSynchronizer(new TextDecoder("utf-8", { fatal: true }).decode(id));
  } catch {
    return "";
  }
}

/** Without the suffix of a physical synchronizer, `::35-0`, which no request takes and no contract has. */
export const logicalSynchronizer = (synchronizerId: string): string =>
  /^[^:]+::[^:]+/.exec(synchronizerId)?.[0] ?? synchronizerId;

/** The first field with a number and with a length: a message or a string. Throws if the bytes are not protobuf. */
function fieldOf(message: Uint8Array, number: number): Uint8Array | undefined {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === number && type === WireType.LengthDelimited) return reader.bytes();
    reader.skip(type, field);
  }
  return undefined;
}
