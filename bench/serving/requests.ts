/** What is asked: contexts that vary by offer, by parties, and by whether debug fields are wanted. */
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { GetTransferInstructionContextRequestSchema as Schema } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { post } from "../load/connection.js";
import { frame } from "../load/grpc.js";
import { SETTLEMENTS, settlementBody } from "../registries/settlements.js";
import { base, registrar } from "../registries/services.js";
import { holder, INSTRUMENT, OFFERS, offerId, receiver } from "../registries/transfers.js";

export const rpcPath =
  "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferInstructionAcceptContext";
const acceptPath = (offer: number): string =>
  `${base}/transfer-instruction/v1/${offerId(offer)}/choice-contexts/accept`;

/** Makes the request one of about 1 KB. */
const pad = "x".repeat(520);
const contextBody = (excludeDebugFields: boolean) => ({ meta: { values: { pad } }, excludeDebugFields });

/** A request to accept a transfer. */
export const accept = (offer: number, excludeDebugFields: boolean): Buffer =>
  post(acceptPath(offer), "application/json", JSON.stringify(contextBody(excludeDebugFields)));

/** Gives the n-th of a list, and begins anew behind its end. */
export const inTurn = (list: readonly Buffer[]) => (index: number) => list[index % list.length] ?? Buffer.alloc(0);

/** Asks for each of so many things twice, with debug fields and without, the one and the other in turn. */
const twice = (count: number, requestOf: (thing: number, excludeDebugFields: boolean) => Buffer): readonly Buffer[] =>
  Array.from({ length: 2 * count }, (_, index) =>
    requestOf(index % count, (index + Math.floor(index / count)) % 2 === 1),
  );

export const restAccept = (): readonly Buffer[] => twice(OFFERS, accept);

export const restTransfer = (): readonly Buffer[] =>
  twice(OFFERS, (index, excludeDebugFields) => {
    const body = { ...transferBody(index), excludeDebugFields };
    return post(`${base}/transfer-instruction/v1/transfer-factory`, "application/json", JSON.stringify(body));
  });

export const connectJson = (): readonly Buffer[] =>
  twice(OFFERS, (...asked) => post(rpcPath, "application/json", toJsonString(Schema, message(...asked))));

export const connectBinary = (): readonly Buffer[] =>
  twice(OFFERS, (...asked) => post(rpcPath, "application/proto", toBinary(Schema, message(...asked))));

export const grpc = (): readonly Buffer[] => twice(OFFERS, (...asked) => frame(toBinary(Schema, message(...asked))));

export const settlement = (): readonly Buffer[] =>
  twice(SETTLEMENTS, (...asked) =>
    post(`${base}/allocation/v2/settlement-factory`, "application/json", JSON.stringify(settlementBody(...asked))),
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
