/** Joins an answer that discloses contracts from the pieces of each. */
import { TransferFactoryWithChoiceContext_TransferKind as TransferKind } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import type { ContextReply } from "../../service/context-reply.js";
import { mapBinary, mapJson } from "./any-value.js";
import { type Body, joined, type Octets, utf8 } from "./octets.js";
import { binaryOf, pushJson } from "./pieces.js";
import { delimited, head, number, text } from "./protobuf.js";
import { entry } from "./struct.js";

/** The message in JSON, as `toJson` writes it. */
export function contextJson({ answer, variant, factory }: ContextReply): Body {
  const pieces: Octets[] = [];
  if (factory !== undefined) {
    const { factoryId, transferKind } = factory;
    const kind = transferKind === undefined ? "" : `"transferKind":"${TransferKind[transferKind]}",`;
    pieces.push(`{"factoryId":${utf8(JSON.stringify(factoryId))},${kind}"choiceContext":`);
  }
  pieces.push(`{"choiceContextData":{"values":${mapJson(answer.values)}},"disclosedContracts":[`);
  let separator = "";
  for (const contract of answer.disclosed) {
    if (separator !== "") pieces.push(separator);
    pushJson(contract, variant, pieces);
    separator = ",";
  }
  pieces.push(factory === undefined ? "]}" : "]}}");
  return joined(pieces);
}

/** The numbers of the fields: of ChoiceContext, and of the messages that have a factory. */
const CONTEXT_DATA = 1;
const FACTORY_ID = 1;
const TRANSFER_KIND = 2;

/** The message in protobuf, as `toBinary` writes it. */
export function contextBinary({ answer, variant, factory }: ContextReply): Body {
  const pieces = [delimited(CONTEXT_DATA, entry("values", mapBinary(answer.values)))];
  for (const contract of answer.disclosed) pieces.push(binaryOf(contract, variant));
  if (factory === undefined) return joined(pieces);
  const { factoryId, transferKind } = factory;
  const kind = transferKind === undefined ? "" : number(TRANSFER_KIND, transferKind);
  let length = 0;
  for (const piece of pieces) length += piece.length;
  pieces.unshift(text(FACTORY_ID, factoryId) + kind + head(transferKind === undefined ? 2 : 3, length));
  return joined(pieces);
}
