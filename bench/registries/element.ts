/**
 * Elements of an active-contracts stream, with ids of realistic length and
 * blobs of one size. Cheap to generate, since a registry may have a million.
 */
import { hash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { synchronizer } from "../../demo/element.js";
import { stakeholders } from "../../demo/stakeholders.js";

/** The template of a contract, as src/registry names it. */
export interface Template {
  readonly packageName: string;
  readonly qualifiedName: string;
}

/** Makes an accept context with debug fields about 17 KB. */
const BLOB_BYTES = 1_110;

export function contractId(label: string): string {
  const digits = hash("sha512", label);
  return `00${digits.slice(0, 64)}ca121220${digits.slice(64)}`;
}

/** The element of an active contract that was created at `offset`. */
export function createElement(
  { packageName, qualifiedName }: Template,
  label: string,
  offset: number,
  payload: JsonObject,
) {
  const id = contractId(label);
  const packageId = hashPackageName(packageName);
  const { signatories, observers } = stakeholders(payload);
  const createdEvent = {
    offset,
    nodeId: 0,
    contractId: id,
    templateId: `${packageId}:${qualifiedName}`,
    contractKey: null,
    contractKeyHash: "",
    createArgument: payload,
    createdEventBlob: createBlob(id),
    interfaceViews: [],
    witnessParties: signatories,
    signatories,
    observers,
    createdAt: new Date(Date.UTC(2026, 0, 5, 9) + offset * 1_000).toISOString().replace("Z", "417Z"),
    packageName,
    representativePackageId: packageId,
    acsDelta: true,
  };
  const contractEntry = { JsActiveContract: { createdEvent, synchronizerId: synchronizer, reassignmentCounter: 0 } };
  return { workflowId: "", contractEntry } satisfies JsonObject;
}

export type Element = ReturnType<typeof createElement>;

const packageIds = new Map<string, string>();
function hashPackageName(packageName: string): string {
  const id = packageIds.get(packageName) ?? hash("sha256", packageName);
  packageIds.set(packageName, id);
  return id;
}

const bytes = Buffer.alloc(BLOB_BYTES);

/** The contract id followed by noise, so that no two blobs share content. */
function createBlob(id: string): string {
  const length = bytes.write(id, "hex");
  let state = Number.parseInt(id.slice(2, 10), 16) | 1;
  for (let at = length; at + 4 <= BLOB_BYTES; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state, at);
  }
  return bytes.toString("base64");
}
