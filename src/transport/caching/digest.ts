/** A digest of what an answer says, made of digests that are kept with each contract it discloses. */
import { hash } from "node:crypto";
import { memoizeByContract } from "../../domain/contract-slots.js";
import type { AnyValue, NamedValue } from "../../registry/sdk/registry.js";
import type { ContextReply } from "../../service/context-reply.js";

/** 132 bits: two answers never share a digest by chance. */
const DIGEST_LENGTH = 22;

export const digestOf = (text: string): string => hash("sha256", text, "base64url").slice(0, DIGEST_LENGTH);

/** Covers everything of a contract that an answer may show. */
const contractDigest = memoizeByContract(({ template, templateId, contractId, payload, ...contract }) =>
  digestOf(
    JSON.stringify([
      template.packageName,
      templateId,
      contractId,
      payload,
      contract.createdEventBlob,
      contract.createdAt,
      contract.synchronizerId,
    ]),
  ),
);

/** Equal for equal answers, whatever process, store or encoding they come from. */
export function contextDigest({ variant, factory, answer }: ContextReply): string {
  let text = `${variant} ${factory?.factoryId ?? ""} ${factory?.transferKind ?? ""}`;
  for (const contract of answer.disclosed) text += `\n${contractDigest(contract)}`;
  return digestOf(text + namedText(answer.values));
}

/** Lengths keep different lists of values from giving the same text. */
function namedText(values: readonly NamedValue[]): string {
  let text = `\n${values.length}`;
  for (const { name, alias, value } of values) {
    text += `\n${name.length}:${name}${alias === undefined ? "" : ` ${alias.length}:${alias}`} ${valueText(value)}`;
  }
  return text;
}

function valueText(value: AnyValue): string {
  switch (value.tag) {
    case "AV_ContractId":
      return `${value.tag} ${value.contract === undefined ? value.value : contractDigest(value.contract)}`;
    case "AV_List":
      return `${value.tag} ${value.value.length} ${value.value.map(valueText).join("\n")}`;
    case "AV_Map":
      return `${value.tag} ${namedText(value.value)}`;
    case "AV_Bool":
      return `${value.tag} ${value.value}`;
    default:
      return `${value.tag} ${value.value.length}:${value.value}`;
  }
}
