/**
 * Operation ids and schema names, for those who generate clients. The rule:
 *
 * 1. A name that a published document of the token standard or of the Utilities API gives is taken.
 * 2. Anything else has its name in the proto files.
 * 3. Where two would have one name, the token standard's version 1 has it. Version 2 adds `V2` at the end, the
 *    Utilities API `Utility` at the beginning.
 */
import type { DescMessage, DescMethod } from "@bufbuild/protobuf";

/** Published names that differ from those in the proto files, by message and enum. */
const PUBLISHED: Readonly<Record<string, string>> = {
  "offledger.transfer_instruction.v1.GetTransferInstructionContextRequest": "GetChoiceContextRequest",
  "offledger.allocation.v1.GetAllocationContextRequest": "GetChoiceContextRequest",
  "offledger.allocation_instruction.v2.GetAllocationInstructionContextRequest": "GetChoiceContextRequest",
  "offledger.operator.v0.Package": "PackageDescriptor",
  "offledger.burn.v0.GetBurnRequestCreateContextRequest": "RequestBurnRequest",
  "offledger.transfer.v0.Transfer": "TransferObject",
  "offledger.transfer.v0.Metadata": "TransferMeta",
  "offledger.transfer.v0.VerifyTransferProofResponse.Status": "TransferProofStatus",
};

/** Published names of the bodies of operations that share one message, by operation id. */
const PUBLISHED_BODIES: Readonly<Record<string, string>> = {
  getMintOfferCreateContext: "OfferMintRequest",
  getMintRequestCreateContext: "RequestMintRequest",
  getBurnOfferCreateContext: "OfferBurnRequest",
};

/** Published names of fields whose type has no name in the proto files. */
const PUBLISHED_FIELDS: Readonly<Record<string, string>> = { supported_apis: "SupportedApis" };

/** Names of the elements of lists of strings. */
const ELEMENTS: Readonly<Record<string, string>> = { account_input_fields_to_show: "AccountInputField" };

/** Descriptions of schemas that no message has, or several. */
export const SHARED_DESCRIPTIONS: Readonly<Record<string, string>> = {
  GetChoiceContextRequest: "Asks for the context of a choice on the contract that the path names.",
  AccountInputField: "A field of an account that a wallet lets its user fill in.",
  SupportedApis: "The parts of the token standard that are served, by the name of the API, with the minor version.",
};

export const publishedName = (typeName: string): string | undefined => PUBLISHED[typeName];
export const publishedBody = (operationId: string): string | undefined => PUBLISHED_BODIES[operationId];
export const elementName = (field: string): string | undefined => ELEMENTS[field];
export const publishedField = (name: string): string | undefined => PUBLISHED_FIELDS[name];

/** The schema names of messages by their type names. Throws if two messages would have one name by accident. */
export function schemaNames(messages: readonly DescMessage[]): ReadonlyMap<string, string> {
  const isShared = (name: string) => messages.filter((other) => own(other) === name).length > 1;
  const names = new Map<string, string>();
  const users = new Map<string, string>();
  for (const message of messages) {
    const { typeName } = message;
    const published = PUBLISHED[typeName];
    const name = published ?? (isShared(own(message)) ? told(message) : own(message));
    const user = users.get(name);
    if (user !== undefined && published === undefined) throw new Error(`${typeName} and ${user} are both ${name}`);
    users.set(name, typeName);
    names.set(typeName, name);
  }
  return names;
}

const own = ({ typeName, name }: DescMessage): string => PUBLISHED[typeName] ?? name;

function told({ typeName, name }: DescMessage): string {
  if (typeName.startsWith("offledger.utility.")) return `Utility${name}`;
  return /\.v2\.\w+$/.test(typeName) ? `${name}V2` : name;
}

/** The operation ids by rpc: the rpc's name, which is the published one. */
export function operationIds(methods: readonly DescMethod[]): ReadonlyMap<DescMethod, string> {
  const ids = new Map<DescMethod, string>();
  for (const method of methods) {
    const isShared = methods.filter(({ name }) => name === method.name).length > 1;
    const isVersion2 = method.parent.file.proto.package.endsWith(".v2");
    const id = method.name.charAt(0).toLowerCase() + method.name.slice(1) + (isShared && isVersion2 ? "V2" : "");
    if ([...ids.values()].includes(id)) throw new Error(`two operations are ${id}`);
    ids.set(method, id);
  }
  return ids;
}
