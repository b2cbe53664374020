/** Elements of active contracts, with ids, package ids and blobs in the form of a real ledger. */
import { createHash } from "node:crypto";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { JsonObject } from "../src/util/json.js";
import type { Template } from "../src/domain/template.js";
import { stakeholders } from "./stakeholders.js";

type TemplateName = Pick<Template, "packageName" | "qualifiedName">;

export const synchronizer = `global-domain::1220${hash("global-domain")}`;
export const otherSynchronizer = `private-domain::1220${hash("private-domain")}`;

export const party = (hint: string): string => `${hint}::1220${hash(`party ${hint}`)}`;

/** A contract id of 138 hexadecimal characters: discriminator, version, suffix. */
export const contractId = (label: string): string =>
  `00${hash(`discriminator ${label}`)}ca121220${hash(`suffix ${label}`)}`;

/** Creates elements of one ledger, with increasing offsets and times. */
export function createElements(firstOffset: number) {
  let offset = firstOffset;

  function created(template: TemplateName, label: string, createArgument: JsonObject): JsonObject {
    offset += 7;
    const { signatories, observers } = stakeholders(createArgument);
    return {
      offset,
      nodeId: 0,
      contractId: contractId(label),
      templateId: templateId(template),
      contractKey: null,
      contractKeyHash: "",
      createArgument,
      createdEventBlob: blob(template, label, createArgument),
      interfaceViews: [],
      witnessParties: [...signatories, ...observers],
      signatories,
      observers,
      createdAt: new Date(Date.UTC(2026, 0, 5, 9) + offset * 61_000).toISOString().replace("Z", "417Z"),
      packageName: template.packageName,
      representativePackageId: packageId(template),
      acsDelta: true,
    };
  }

  return {
    active: (template: TemplateName, label: string, payload: JsonObject): JsonObject => {
      const createdEvent = created(template, label, payload);
      return entry({ JsActiveContract: { createdEvent, synchronizerId: synchronizer, reassignmentCounter: 0 } });
    },
    /** A contract that was unassigned from `synchronizer` and not yet assigned to another. */
    inReassignment: (template: TemplateName, label: string, payload: JsonObject): JsonObject => {
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

export const { active, inReassignment } = createElements(1000);

const entry = (contractEntry: JsonObject): JsonObject => ({ workflowId: "", contractEntry });

/** The envelope of a participant's blob: a version and a fat contract instance. The arguments are noise. */
function blob(template: TemplateName, label: string, payload: JsonObject): string {
  const [module = "", entity = ""] = template.qualifiedName.split(":");
  const identifier = new BinaryWriter().tag(1, WireType.LengthDelimited).string(packageId(template));
  writeName(identifier.tag(2, WireType.LengthDelimited).fork(), module).join();
  writeName(identifier.tag(3, WireType.LengthDelimited).fork(), entity).join();
  const instance = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .bytes(Buffer.from(contractId(label), "hex"))
    .tag(2, WireType.LengthDelimited)
    .string(template.packageName)
    .tag(3, WireType.LengthDelimited)
    .bytes(identifier.finish())
    .tag(4, WireType.LengthDelimited)
    .bytes(noise(label, Math.round(JSON.stringify(payload).length * 0.8)));
  const versioned = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string("2.1")
    .tag(2, WireType.LengthDelimited)
    .bytes(instance.finish());
  return Buffer.from(versioned.finish()).toString("base64");
}

/** A dotted name is a message with its segments. */
function writeName(writer: BinaryWriter, text: string): BinaryWriter {
  for (const segment of text.split(".")) writer.tag(1, WireType.LengthDelimited).string(segment);
  return writer;
}

function noise(label: string, length: number): Uint8Array {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) => hash(`${label} ${index}`));
  return Buffer.from(blocks.join(""), "hex").subarray(0, length);
}

const packageId = ({ packageName }: Pick<Template, "packageName">): string => hash(`package ${packageName}`);
const templateId = (template: TemplateName): string => `${packageId(template)}:${template.qualifiedName}`;

function hash(text: string): string {
  return createHash("sha256").update(`offledger demo: ${text}`).digest("hex");
}
