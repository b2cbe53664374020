/** Joins an answer that discloses contracts from the pieces of each. */
import { TransferFactoryWithChoiceContext_TransferKind as TransferKind } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import type { ContextReply } from "../../service/context-reply.js";
import { mapBinary, mapJson } from "./any-value.js";
import { lengthOf, type Octets, type Pieces, utf8 } from "./octets.js";
import { binaryIn, jsonIn } from "./pieces.js";
import { delimited, head, number, text } from "./protobuf.js";
import { entry } from "./struct.js";

/** The message in JSON, as `toJson` writes it. */
export function contextJson({ answer, variant, factory }: ContextReply): Pieces {
  const context = `{"choiceContextData":{"values":${mapJson(answer.values)}},"disclosedContracts":[`;
  const pieces: Octets[] = [factory === undefined ? context : beforeContext(factory) + context];
  const jsonOf = jsonIn[variant];
  for (const contract of answer.disclosed) pieces.push(jsonOf(contract));
  // The first has no comma.
  if (pieces[1] !== undefined) pieces[1] = pieces[1].slice(1);
  pieces.push(factory === undefined ? "]}" : "]}}");
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

/** The message in protobuf, as `toBinary` writes it. */
export function contextBinary({ answer, variant, factory }: ContextReply): Pieces {
  const pieces = [delimited(CONTEXT_DATA, entry("values", mapBinary(answer.values)))];
  const binaryOf = binaryIn[variant];
  for (const contract of answer.disclosed) pieces.push(binaryOf(contract));
  if (factory === undefined) return pieces;
  const { factoryId, transferKind } = factory;
  const kind = transferKind === undefined ? "" : number(TRANSFER_KIND, transferKind);
  pieces.unshift(text(FACTORY_ID, factoryId) + kind + head(transferKind === undefined ? 2 : 3, lengthOf(pieces)));
  return pieces;
}
