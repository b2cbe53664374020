/** Joins a response that discloses contracts from the encodings of each contract. */
import { TransferFactoryWithChoiceContext_TransferKind as TransferKind } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import type { ContextReply } from "../../service/messages/context-reply.js";
import { addContextData } from "./any-value-binary.js";
import { addFields as addJsonFields } from "./any-value-json.js";
import { type BinaryString, utf8 } from "./binary-string.js";
import { ChunkList } from "./chunk-list.js";
import { binaryElement, jsonElement } from "./disclosed-contract.js";
import { lengthPrefix, text, varintField } from "./protobuf.js";

type Factory = NonNullable<ContextReply["factory"]>;

const DATA = Buffer.from('{"choiceContextData":{"values":{');
const CONTRACTS = Buffer.from('},"disclosedContracts":[');
const END = Buffer.from("}");

/** The response in JSON, byte for byte what `toJson` gives. */
export function contextJson({ answer: { values, disclosed }, variant, factory }: ContextReply): ChunkList {
  const chunks = new ChunkList();
  if (factory !== undefined) chunks.add(factoryJson(factory));
  chunks.add(DATA);
  addJsonFields(chunks, values);
  chunks.add(CONTRACTS);
  for (const contract of disclosed) chunks.add(jsonElement[variant](contract));
  chunks.close("]", disclosed.length === 0);
  chunks.add(END);
  if (factory !== undefined) chunks.add(END);
  return chunks;
}

function factoryJson({ factoryId, transferKind }: Factory): BinaryString {
  const kind = transferKind === undefined ? "" : `"transferKind":"${TransferKind[transferKind]}",`;
  return `{"factoryId":${utf8(JSON.stringify(factoryId))},${kind}"choiceContext":`;
}

/** Field numbers of ChoiceContext, FactoryWithChoiceContext and TransferFactoryWithChoiceContext. */
const CHOICE_CONTEXT_DATA = 1;
const FACTORY_ID = 1;
const CHOICE_CONTEXT = 2;
const TRANSFER_KIND = 2;
const CHOICE_CONTEXT_OF_TRANSFER = 3;

/** The response in protobuf, byte for byte what `toBinary` gives. */
export function contextBinary({ answer, variant, factory }: ContextReply): ChunkList {
  const chunks = new ChunkList();
  const addContext = () => {
    chunks.addLengthPrefixed(dataPrefix, () => addContextData(chunks, answer.values));
    for (const contract of answer.disclosed) chunks.add(binaryElement[variant](contract));
  };
  if (factory === undefined) addContext();
  else addAfterFactory(chunks, factory, addContext);
  return chunks;
}

function addAfterFactory(chunks: ChunkList, { factoryId, transferKind }: Factory, addContext: () => void): void {
  chunks.add(text(FACTORY_ID, factoryId));
  if (transferKind !== undefined) chunks.add(varintField(TRANSFER_KIND, transferKind));
  const field = transferKind === undefined ? CHOICE_CONTEXT : CHOICE_CONTEXT_OF_TRANSFER;
  chunks.addLengthPrefixed((length) => lengthPrefix(field, length), addContext);
}

const dataPrefix = (length: number): BinaryString => lengthPrefix(CHOICE_CONTEXT_DATA, length);
