/** A digest of what an answer says, made of digests that are kept with each contract it discloses. */
import { hash } from "node:crypto";
import { memoizeByContract } from "../../domain/contract-slots.js";
import type { AnyValue, NamedValue } from "../../registry/sdk/registry.js";
import type { ContextReply } from "../../service/context-reply.js";
import { boundedMemoize } from "../../util/bounded-memoize.js";

/** 132 bits: two answers never share a digest by chance. */
const DIGEST_LENGTH = 22;
const NAME_DIGEST_LENGTH = 11;

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

/** Names recur, and most have some 60 characters. */
const nameDigest = boundedMemoize((name) => digestOf(name).slice(0, NAME_DIGEST_LENGTH));

/** Equal for equal answers, whatever process, store or encoding they come from. Short: a hash costs by the byte. */
export function contextDigest({ variant, factory, answer }: ContextReply): string {
  let text = `${variant} ${factory?.factoryId ?? ""} ${factory?.transferKind ?? ""}\n`;
  for (const contract of answer.disclosed) text += contractDigest(contract);
  return digestOf(`${text}\n${namedText(answer.values)}`);
}

/** Each part has a fixed length or says how long it is, so that no two lists of values give the same text. */
function namedText(values: readonly NamedValue[]): string {
  let text = "";
  for (const { name, alias, value } of values) {
    text += nameDigest(name);
    if (alias !== undefined) text += `=${nameDigest(alias)}`;
    text += valueText(value);
  }
  return text;
}

function valueText(value: AnyValue): string {
  switch (value.tag) {
    case "AV_ContractId":
      return value.contract === undefined
        ? `?${value.value.length}:${value.value}`
        : `+${contractDigest(value.contract)}`;
    case "AV_List":
      return `[${value.value.length}:${value.value.map(valueText).join("")}`;
    case "AV_Map":
      return `{${value.value.length}:${namedText(value.value)}`;
    case "AV_Bool":
      return value.value ? "!1" : "!0";
    default:
      return ` ${value.tag} ${value.value.length}:${value.value}`;
  }
}
