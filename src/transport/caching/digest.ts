/** A digest of what an answer says, made of digests that are kept with each contract it discloses. */
import { memoizeByContract } from "../../domain/contract-slots.js";
import type { AnyValue, NamedValue } from "../../registry/sdk/registry.js";
import type { ContextReply } from "../../service/messages/context-reply.js";
import { boundedMemoize } from "../../util/bounded-memoize.js";
import { DigestMixer, wordsOf } from "./digest-words.js";

export function digestOf(text: string): string {
  const mixer = new DigestMixer();
  mixer.add(wordsOf(text));
  return mixer.toString();
}

/** Covers everything of a contract that an answer may show. */
const contractWords = memoizeByContract(({ template, templateId, contractId, payload, ...contract }) =>
  wordsOf(
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

/** Names recur, and so do the few values that are not contracts. */
const textWords = boundedMemoize(wordsOf);

/** Equal for equal answers, whatever process, store or encoding they come from. */
export function contextDigest({ variant, factory, answer }: ContextReply): string {
  const mixer = new DigestMixer();
  mixer.add(textWords(variant));
  if (factory !== undefined) {
    mixer.add(textWords(factory.factoryId));
    mixer.addNumber(factory.transferKind ?? -1);
  }
  mixer.addNumber(answer.disclosed.length);
  for (const contract of answer.disclosed) mixer.add(contractWords(contract));
  addNamed(mixer, answer.values);
  return mixer.toString();
}

/** Starts with how many there are, so that no two structures of values add the same words. */
function addNamed(mixer: DigestMixer, values: readonly NamedValue[]): void {
  mixer.addNumber(values.length);
  for (const { name, alias, value } of values) {
    mixer.add(textWords(name));
    if (alias === undefined) mixer.addNumber(0);
    else mixer.add(textWords(alias));
    addValue(mixer, value);
  }
}

function addValue(mixer: DigestMixer, value: AnyValue): void {
  if (value.tag === "AV_ContractId" && value.contract !== undefined) {
    mixer.add(contractWords(value.contract));
    return;
  }
  mixer.add(textWords(value.tag));
  if (value.tag === "AV_List") {
    mixer.addNumber(value.value.length);
    for (const element of value.value) addValue(mixer, element);
  } else if (value.tag === "AV_Map") addNamed(mixer, value.value);
  else mixer.add(textWords(String(value.value)));
}
