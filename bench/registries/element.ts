/**
 * Elements of active contracts as a participant gives them, with ids of the
 * length of real ones and blobs of one size. Made with little work: a registry
 * may have a million.
 */
import { hash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { synchronizer } from "../../demo/element.js";
import { stakeholders } from "../../demo/stakeholders.js";

/** Which template a contract is of, as the kinds of the registry have it. */
export interface Template {
  readonly packageName: string;
  readonly qualifiedName: string;
}

/** The bytes of a created event, so that an acceptance with its debug fields has some 17 KB. */
const BLOB_BYTES = 1_110;

/** A contract id of 138 hexadecimal characters. */
export function contractId(label: string): string {
  const digits = hash("sha512", label);
  return `00${digits.slice(0, 64)}ca121220${digits.slice(64)}`;
}

/** A contract that was created at an offset, and is active. */
export function active({ packageName, qualifiedName }: Template, label: string, offset: number, payload: JsonObject) {
  const id = contractId(label);
  const packageId = packageIdOf(packageName);
  const { signatories, observers } = stakeholders(payload);
  const createdEvent = {
    offset,
    nodeId: 0,
    contractId: id,
    templateId: `${packageId}:${qualifiedName}`,
    contractKey: null,
    contractKeyHash: "",
    createArgument: payload,
    createdEventBlob: blob(id),
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

/** An element of an active contract, with its fields known. */
export type Element = ReturnType<typeof active>;

const packageIds = new Map<string, string>();
function packageIdOf(packageName: string): string {
  const known = packageIds.get(packageName) ?? hash("sha256", packageName);
  packageIds.set(packageName, known);
  return known;
}

const bytes = Buffer.alloc(BLOB_BYTES);

/** The contract's id, and noise that is its own: no two blobs have anything else in common. */
function blob(id: string): string {
  const length = bytes.write(id, "hex");
  let state = Number.parseInt(id.slice(2, 10), 16) | 1;
  for (let at = length; at + 4 <= BLOB_BYTES; at += 4) {
    // Xorshift: quick, and good enough for noise.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state, at);
  }
  return bytes.toString("base64");
}
