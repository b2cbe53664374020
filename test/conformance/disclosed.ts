/** Disclosed contracts as a registry sends them, from an id and a template: the blob says the same as what stands beside it. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { synchronizer } from "../../demo/element.js";
import { isObject, type JsonObject, type JsonValue } from "../../src/util/json.js";

/** The same, where each list `disclosed` is one of `disclosedContracts`, with what its contracts lack. */
export function withContracts(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withContracts);
  if (!isObject(value)) return value;
  const { disclosed, ...others } = value;
  const rest: JsonObject = Object.fromEntries(Object.entries(others).map(([name, one]) => [name, withContracts(one)]));
  return Array.isArray(disclosed) ? { ...rest, disclosedContracts: disclosed.map(contractOf) } : rest;
}

/** Fields that are given stay as they are. */
function contractOf(given: JsonValue): JsonValue {
  if (!isObject(given)) return given;
  const { contractId, templateId } = given;
  if (typeof contractId !== "string" || typeof templateId !== "string") return given;
  return { createdEventBlob: blobOf(contractId, templateId), synchronizerId: synchronizer, ...given };
}

/** What Canton's blobs have around an id and a template; the rest of a contract is left out. */
export function blobOf(contractId: string, templateId: string): string {
  const [packageId = "", module = "", entity = ""] = templateId.split(":");
  const template = message(
    [1, Buffer.from(packageId)],
    ...module.split(".").map((segment): Field => [2, Buffer.from(segment)]),
    ...entity.split(".").map((segment): Field => [3, Buffer.from(segment)]),
  );
  const contract = message([1, Buffer.from(contractId, "hex")], [3, template]);
  return Buffer.from(message([1, Buffer.from("2.1")], [2, contract])).toString("base64");
}

type Field = readonly [number: number, content: Uint8Array];

function message(...fields: readonly Field[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const [number, content] of fields) writer.tag(number, WireType.LengthDelimited).bytes(content);
  return writer.finish();
}
