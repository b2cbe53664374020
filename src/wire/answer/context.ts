/** Joins an answer that discloses contracts from the pieces of each. */
import { TransferFactoryWithChoiceContext_TransferKind as TransferKind } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import type { ContextReply } from "../../service/context-reply.js";
import * as binaryOf from "./any-value-binary.js";
import * as jsonOf from "./any-value-json.js";
import { binaryIn, jsonIn } from "./elements.js";
import { kept } from "./keeping.js";
import { type Octets, utf8 } from "./octets.js";
import { Pieces } from "./pieces.js";
import { field, fixed, inside, numberField, text } from "./protobuf.js";
import { entryHead, STRUCT } from "./struct.js";

const DATA = kept('{"choiceContextData":{"values":{');
const CONTRACTS = kept('},"disclosedContracts":[');
const END = kept("}");

/** The message in JSON, as `toJson` writes it. */
export function contextJson({ answer: { values, disclosed }, variant, factory }: ContextReply): Pieces {
  const pieces = new Pieces();
  if (factory !== undefined) pieces.add(beforeContext(factory));
  pieces.add(DATA);
  jsonOf.addFields(pieces, values);
  pieces.add(CONTRACTS);
  const element = jsonIn[variant];
  for (const contract of disclosed) pieces.add(element(contract));
  pieces.close("]", disclosed.length === 0);
  pieces.add(END);
  if (factory !== undefined) pieces.add(END);
  return pieces;
}

function beforeContext({ factoryId, transferKind }: NonNullable<ContextReply["factory"]>): Octets {
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
export function contextBinary({ answer, variant, factory }: ContextReply): Pieces {
  const pieces = new Pieces();
  const addContext = () => {
    pieces.addBehind(dataHead, () => binaryOf.addFields(pieces, answer.values));
    const element = binaryIn[variant];
    for (const contract of answer.disclosed) pieces.add(element(contract));
  };
  if (factory === undefined) addContext();
  else pieces.addBehind(factoryHead(factory), addContext);
  return pieces;
}

function factoryHead({ factoryId, transferKind }: NonNullable<ContextReply["factory"]>) {
  const id = text(FACTORY_ID, factoryId);
  return transferKind === undefined
    ? inside(fixed(id), field(CONTEXT))
    : inside(fixed(id + numberField(TRANSFER_KIND, transferKind)), field(CONTEXT_OF_TRANSFER));
}
