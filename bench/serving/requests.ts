/** Encoded requests, which vary by offer, by parties, and by `excludeDebugFields`. */
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { GetTransferInstructionContextRequestSchema as Schema } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { encodePost } from "../load/connection.js";
import { frameMessage } from "../load/grpc.js";
import { SETTLEMENTS, settlementBody } from "../registries/settlements.js";
import { BASE_PATH, registrar } from "../registries/services.js";
import { holder, INSTRUMENT, OFFERS, offerId, receiver } from "../registries/transfers.js";

export const RPC_PATH =
  "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferInstructionAcceptContext";
export const acceptPath = (offer: number): string =>
  `${BASE_PATH}/transfer-instruction/v1/${offerId(offer)}/choice-contexts/accept`;

/** Pads a request to about 1 KB. */
const pad = "x".repeat(520);
const contextBody = (excludeDebugFields: boolean) => ({ meta: { values: { pad } }, excludeDebugFields });

export const encodeAccept = (offer: number, excludeDebugFields: boolean): Buffer =>
  encodePost(acceptPath(offer), "application/json", JSON.stringify(contextBody(excludeDebugFields)));

export const cycle = (list: readonly Buffer[]) => (index: number) => list[index % list.length] ?? Buffer.alloc(0);

const bothForms = (count: number, encode: (index: number, excludeDebugFields: boolean) => Buffer): readonly Buffer[] =>
  Array.from({ length: 2 * count }, (_, index) => encode(index % count, (index + Math.floor(index / count)) % 2 === 1));

export const restAcceptRequests = (): readonly Buffer[] => bothForms(OFFERS, encodeAccept);

const TRANSFER_FACTORY_PATH = `${BASE_PATH}/transfer-instruction/v1/transfer-factory`;

export const restTransferRequests = (): readonly Buffer[] =>
  bothForms(OFFERS, (index, excludeDebugFields) => {
    const body = { ...transferBody(index), excludeDebugFields };
    return encodePost(TRANSFER_FACTORY_PATH, "application/json", JSON.stringify(body));
  });

/** A transfer factory and an accept context, for a caller that encodes requests itself. */
export const plainRequests = (): readonly { readonly path: string; readonly body: string }[] => [
  { path: TRANSFER_FACTORY_PATH, body: JSON.stringify({ ...transferBody(0), excludeDebugFields: true }) },
  { path: acceptPath(0), body: JSON.stringify(contextBody(true)) },
];

export const connectJsonRequests = (): readonly Buffer[] =>
  bothForms(OFFERS, (...form) => encodePost(RPC_PATH, "application/json", toJsonString(Schema, message(...form))));

export const connectBinaryRequests = (): readonly Buffer[] =>
  bothForms(OFFERS, (...form) => encodePost(RPC_PATH, "application/proto", toBinary(Schema, message(...form))));

export const grpcRequests = (): readonly Buffer[] =>
  bothForms(OFFERS, (...form) => frameMessage(toBinary(Schema, message(...form))));

export const settlementRequests = (): readonly Buffer[] =>
  bothForms(SETTLEMENTS, (...form) =>
    encodePost(
      `${BASE_PATH}/allocation/v2/settlement-factory`,
      "application/json",
      JSON.stringify(settlementBody(...form)),
    ),
  );

function message(offer: number, excludeDebugFields: boolean) {
  const context = contextBody(excludeDebugFields);
  return create(Schema, { registrarParty: registrar, transferInstructionId: offerId(offer), ...context });
}

function transferBody(index: number) {
  return {
    choiceArguments: {
      expectedAdmin: registrar,
      transfer: {
        sender: holder(index),
        receiver: receiver(index),
        amount: "1.0",
        instrumentId: { admin: registrar, id: INSTRUMENT },
        requestedAt: "2026-01-05T09:00:00Z",
        executeBefore: "2036-01-05T09:00:00Z",
        inputHoldingCids: [],
        meta: { values: { pad: pad.slice(0, 160) } },
      },
      extraArgs: { context: { values: {} }, meta: { values: {} } },
    },
  };
}
