/** Joins an answer that discloses contracts from the pieces of each. */
import { TransferFactoryWithChoiceContext_TransferKind as TransferKind } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import type { ContextReply } from "../../service/context-reply.js";
import * as binaryOf from "./any-value-binary.js";
import * as jsonOf from "./any-value-json.js";
import { binaryElement, jsonElement } from "./disclosed-contract.js";
import { toArena } from "./byte-arena.js";
import { type BinaryString, utf8 } from "./binary-string.js";
import { ChunkList } from "./chunk-list.js";
import { field, fixed, inside, numberField, text } from "./protobuf.js";
import { entryHead, STRUCT } from "./struct.js";

const DATA = toArena('{"choiceContextData":{"values":{');
const CONTRACTS = toArena('},"disclosedContracts":[');
const END = toArena("}");

/** The message in JSON, as `toJson` writes it. */
export function contextJson({ answer: { values, disclosed }, variant, factory }: ContextReply): ChunkList {
  const chunks = new ChunkList();
  if (factory !== undefined) chunks.add(beforeContext(factory));
  chunks.add(DATA);
  jsonOf.addFields(chunks, values);
  chunks.add(CONTRACTS);
  const element = jsonElement[variant];
  for (const contract of disclosed) chunks.add(element(contract));
  chunks.close("]", disclosed.length === 0);
  chunks.add(END);
  if (factory !== undefined) chunks.add(END);
  return chunks;
}

function beforeContext({ factoryId, transferKind }: NonNullable<ContextReply["factory"]>): BinaryString {
  const kind = transferKind === undefined ? "" : `"transferKind":"${TransferKind[transferKind]}",`;
  return `{"factoryId":${utf8(JSON.stringify(factoryId))},${kind}"choiceContext":`;
}

/** The numbers of the fields: of ChoiceContext, and of the messages that have a factory. */
const CONTEXT_DATA = 1;
const FACTORY_ID = 1;
const TRANSFER_KIND = 2;
const CONTEXT = 2;
const CONTEXT_OF_TRANSFER = 3;

const dataHead = inside(field(CONTEXT_DATA), entryHead("values"), field(STRUCT));

/** The message in protobuf, as `toBinary` writes it. */
export function contextBinary({ answer, variant, factory }: ContextReply): ChunkList {
  const chunks = new ChunkList();
  const addContext = () => {
    chunks.addLengthPrefixed(dataHead, () => binaryOf.addFields(chunks, answer.values));
    const element = binaryElement[variant];
    for (const contract of answer.disclosed) chunks.add(element(contract));
  };
  if (factory === undefined) addContext();
  else chunks.addLengthPrefixed(factoryHead(factory), addContext);
  return chunks;
}

function factoryHead({ factoryId, transferKind }: NonNullable<ContextReply["factory"]>) {
  const id = text(FACTORY_ID, factoryId);
  return transferKind === undefined
    ? inside(fixed(id), field(CONTEXT))
    : inside(fixed(id + numberField(TRANSFER_KIND, transferKind)), field(CONTEXT_OF_TRANSFER));
}
