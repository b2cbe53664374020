/** Joins an answer that discloses contracts from the pieces of each. */
import { TransferFactoryWithChoiceContext_TransferKind as TransferKind } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import type { ContextReply } from "../../service/context-reply.js";
import { entry, mapBinary, mapJson } from "./any-value.js";
import { joined } from "./slab.js";
import { binaryOf, jsonOf } from "./pieces.js";
import { delimited, tagOf, text } from "./protobuf.js";

const COMMA = 0x2c;

/** The message in JSON, as `toJson` writes it. */
export function contextJson({ answer, variant, factory }: ContextReply): Buffer {
  let head = `{"choiceContextData":{"values":${mapJson(answer.values)}},"disclosedContracts":[`;
  if (factory !== undefined) {
    const { factoryId, transferKind } = factory;
    const kind = transferKind === undefined ? "" : `"transferKind":"${TransferKind[transferKind]}",`;
    head = `{"factoryId":${JSON.stringify(factoryId)},${kind}"choiceContext":${head}`;
  }
  const pieces = answer.disclosed.map((contract) => jsonOf(contract, variant));
  return joined(head, pieces, COMMA, factory === undefined ? "]}" : "]}}");
}

/** The numbers of the fields: of ChoiceContext, and of the messages that have a factory. */
const CONTEXT_DATA = tagOf(1);
const FACTORY_ID = tagOf(1);
const TRANSFER_KIND = (2 << 3) | 0;

/** The message in protobuf, as `toBinary` writes it. */
export function contextBinary({ answer, variant, factory }: ContextReply): Buffer {
  const pieces: Buffer[] = [delimited(CONTEXT_DATA, [entry("values", mapBinary(answer.values))])];
  for (const contract of answer.disclosed) pieces.push(binaryOf(contract, variant));
  if (factory === undefined) return Buffer.concat(pieces);
  const { factoryId, transferKind } = factory;
  const head = text(FACTORY_ID, factoryId);
  if (transferKind === undefined) return Buffer.concat([head, delimited(tagOf(2), pieces)]);
  return Buffer.concat([head, Buffer.from([TRANSFER_KIND, transferKind]), delimited(tagOf(3), pieces)]);
}
