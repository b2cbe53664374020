/** Elements of active contracts with ids, package ids and blobs of the length and form that a ledger gives them. */
import { createHash } from "node:crypto";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { JsonObject } from "../src/domain/json.js";
import type { Template } from "../src/domain/template.js";
import { stakeholders } from "./stakeholders.js";

export const synchronizer = `global-domain::1220${hash("global-domain")}`;
export const otherSynchronizer = `private-domain::1220${hash("private-domain")}`;

/** A party id: its hint and the fingerprint of a key. */
export const party = (hint: string): string => `${hint}::1220${hash(`party ${hint}`)}`;

/** A contract id of 138 hexadecimal characters: discriminator, then version, then suffix. */
export const contractId = (label: string): string =>
  `00${hash(`discriminator ${label}`)}ca121220${hash(`suffix ${label}`)}`;

/** Makes the elements of one ledger: each is created a little behind the one before. */
export function elementsOf(firstOffset: number) {
  let offset = firstOffset;

  function created(
    kind: Pick<Template, "packageName" | "qualifiedName">,
    label: string,
    createArgument: JsonObject,
  ): JsonObject {
    offset += 7;
    const { signatories, observers } = stakeholders(createArgument);
    return {
      offset,
      nodeId: 0,
      contractId: contractId(label),
      templateId: templateId(kind),
      contractKey: null,
      contractKeyHash: "",
      createArgument,
      createdEventBlob: blob(kind, label, createArgument),
      interfaceViews: [],
      witnessParties: [...signatories, ...observers],
      signatories,
      observers,
      createdAt: new Date(Date.UTC(2026, 0, 5, 9) + offset * 61_000).toISOString().replace("Z", "417Z"),
      packageName: kind.packageName,
      representativePackageId: packageId(kind),
      acsDelta: true,
    };
  }

  return {
    /** A contract that is active on the synchronizer. */
    active: (kind: Pick<Template, "packageName" | "qualifiedName">, label: string, payload: JsonObject): JsonObject => {
      const createdEvent = created(kind, label, payload);
      return entry({ JsActiveContract: { createdEvent, synchronizerId: synchronizer, reassignmentCounter: 0 } });
    },
    /** A contract that has left its synchronizer and not arrived at another. */
    inReassignment: (template: Template, label: string, payload: JsonObject): JsonObject => {
      const createdEvent = created(template, label, payload);
      const unassignedEvent = {
        reassignmentId: hash(`reassignment ${label}`),
        contractId: contractId(label),
        templateId: templateId(template),
        packageName: template.packageName,
        source: synchronizer,
        target: otherSynchronizer,
        submitter: "",
        reassignmentCounter: 1,
        witnessParties: createdEvent.witnessParties ?? [],
        offset: 4000,
        nodeId: 0,
      };
      return entry({ JsIncompleteUnassigned: { createdEvent, unassignedEvent } });
    },
  };
}

/** The elements of the demo registry's ledger. */
export const { active, inReassignment } = elementsOf(1000);

const entry = (contractEntry: JsonObject): JsonObject => ({ workflowId: "", contractEntry });

/** The same envelope as a participant's: a version and a fat contract instance, whose arguments are noise here. */
function blob(kind: Pick<Template, "packageName" | "qualifiedName">, label: string, payload: JsonObject): string {
  const [module = "", entity = ""] = kind.qualifiedName.split(":");
  const template = new BinaryWriter().tag(1, WireType.LengthDelimited).string(packageId(kind));
  names(template.tag(2, WireType.LengthDelimited).fork(), module).join();
  names(template.tag(3, WireType.LengthDelimited).fork(), entity).join();
  const instance = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .bytes(Buffer.from(contractId(label), "hex"))
    .tag(2, WireType.LengthDelimited)
    .string(kind.packageName)
    .tag(3, WireType.LengthDelimited)
    .bytes(template.finish())
    .tag(4, WireType.LengthDelimited)
    .bytes(noise(label, Math.round(JSON.stringify(payload).length * 0.8)));
  const versioned = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string("2.1")
    .tag(2, WireType.LengthDelimited)
    .bytes(instance.finish());
  return Buffer.from(versioned.finish()).toString("base64");
}

/** A dotted name is a message of its segments. */
function names(writer: BinaryWriter, text: string): BinaryWriter {
  for (const segment of text.split(".")) writer.tag(1, WireType.LengthDelimited).string(segment);
  return writer;
}

function noise(label: string, length: number): Uint8Array {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) => hash(`${label} ${index}`));
  return Buffer.from(blocks.join(""), "hex").subarray(0, length);
}

const packageId = ({ packageName }: Pick<Template, "packageName">): string => hash(`package ${packageName}`);
const templateId = (kind: Pick<Template, "packageName" | "qualifiedName">): string =>
  `${packageId(kind)}:${kind.qualifiedName}`;

function hash(text: string): string {
  return createHash("sha256").update(`offledger demo: ${text}`).digest("hex");
}
