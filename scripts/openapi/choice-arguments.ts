/**
 * Choice arguments on REST: JSON as the JSON Ledger API has it, described by the typed messages that the other
 * protocols accept in their place.
 */
import type { DescField, DescMessage, DescMethod } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence as Presence } from "@bufbuild/protobuf/wkt";
import type { JsonObject } from "../../src/util/json.js";
import { isOnRest } from "../../src/transport/rest/rest.js";
import { readComment } from "./comments.js";

const PACKAGE = "offledger.choice_arguments.";

/**
 * Fields that the JSON must have, although the typed message may leave them empty: it tells versions apart by its type,
 * and has no absent lists. A leg's side is required in full: allocations read one half of it, settlements the other.
 */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  "offledger.choice_arguments.v2.AllocationSpecification": ["transfer_leg_sides"],
  "offledger.choice_arguments.v2.SettleBatchArguments": ["allocations"],
  "offledger.choice_arguments.v2.TransferLegSide": ["side", "otherside", "instrument_id"],
};

/** Messages of choice arguments that have the schema of another message. */
const SAME_AS: Readonly<Record<string, string>> = {
  [`${PACKAGE}v1.InstrumentId`]: "offledger.utility.v0.InstrumentId",
};

export const isChoiceArguments = ({ typeName }: DescMessage): boolean => typeName.startsWith(PACKAGE);

/** The name of the message that has the schema. */
export const schemaOwner = ({ typeName }: DescMessage): string => SAME_AS[typeName] ?? typeName;

export const isRequiredInJson = ({ parent, name }: DescField): boolean =>
  REQUIRED[parent.typeName]?.includes(name) === true;

/** Whether null is the same as absent: the ledger writes absent optional values so. */
export function isNullable(field: DescField): boolean {
  if (!isChoiceArguments(field.parent)) return false;
  // Message fields always have presence: their comments say which ones Daml has as optional.
  const isOptional = field.fieldKind === "scalar" && field.presence === Presence.EXPLICIT;
  return isOptional || readComment(field).text.includes("May be absent.");
}

/** The typed forms of the arguments of a request for a factory. Empty for any other request. */
export const typedForms = (request: DescMessage): DescMessage[] =>
  request.fields.flatMap((field) => (isOnRest(field) || field.message === undefined ? [] : [field.message]));

/** The form in the version of an operation, and whether it also accepts the other version. */
export function formOf({ input, parent }: DescMethod): { form: DescMessage; acceptsOther: boolean } | undefined {
  const forms = typedForms(input);
  const version = /v\d+$/.exec(parent.file.proto.package)?.[0];
  const form = forms.find(({ file }) => file.proto.package.endsWith(`.${version}`));
  return form === undefined ? undefined : { form, acceptsOther: forms.length > 1 };
}

export const ACCEPTS_OTHER = "Arguments in the shape of the other version are accepted, too.";
export const UNKNOWN_FIELDS = "Unknown fields are ignored.";

/** In every choice argument of the token standard, but in no typed message. */
export const EXTRA_ARGS = "ExtraArgs";
export const extraArgs: JsonObject = {
  type: "object",
  description: "What the ledger passes with the choice. Both objects are empty when a context is asked for.",
  properties: {
    context: { type: "object", description: "The context that this service returns. Empty in a request." },
    meta: { type: "object", description: "Metadata of the choice. Empty in a request." },
  },
  additionalProperties: true,
};
