/** Joins an answer that discloses contracts from the pieces of each. */
import { TransferFactoryWithChoiceContext_TransferKind as TransferKind } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import type { ContextReply } from "../../service/context-reply.js";
import { entryBinary, mapBinary, mapJson } from "./any-value.js";
import { type Octets, utf8 } from "./octets.js";
import { binaryOf, jsonOf } from "./pieces.js";
import { delimited, number, text } from "./protobuf.js";

/** The message in JSON, as `toJson` writes it. */
export function contextJson({ answer, variant, factory }: ContextReply): Octets {
  let pieces = "";
  for (const contract of answer.disclosed) pieces += (pieces === "" ? "" : ",") + jsonOf(contract, variant);
  const context = `{"choiceContextData":{"values":${mapJson(answer.values)}},"disclosedContracts":[${pieces}]}`;
  if (factory === undefined) return context;
  const { factoryId, transferKind } = factory;
  const kind = transferKind === undefined ? "" : `"transferKind":"${TransferKind[transferKind]}",`;
  return `{"factoryId":${utf8(JSON.stringify(factoryId))},${kind}"choiceContext":${context}}`;
}

/** The numbers of the fields: of ChoiceContext, and of the messages that have a factory. */
const CONTEXT_DATA = 1;
const FACTORY_ID = 1;
const TRANSFER_KIND = 2;

/** The message in protobuf, as `toBinary` writes it. */
export function contextBinary({ answer, variant, factory }: ContextReply): Octets {
  let context = delimited(CONTEXT_DATA, entryBinary("values", mapBinary(answer.values)));
  for (const contract of answer.disclosed) context += binaryOf(contract, variant);
  if (factory === undefined) return context;
  const { factoryId, transferKind } = factory;
  const id = text(FACTORY_ID, factoryId);
  if (transferKind === undefined) return id + delimited(2, context);
  return id + number(TRANSFER_KIND, transferKind) + delimited(3, context);
}
