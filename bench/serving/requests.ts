/** What is asked: contexts that vary by offer, by parties, and by whether debug fields are wanted. */
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { GetTransferInstructionContextRequestSchema } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { post } from "./http1.js";
import { frame } from "./http2.js";
import { holder, INSTRUMENT, OFFERS, offerId, registrar } from "./registry.js";

const base = `/api/token-standard/v0/registrars/${registrar}/registry/transfer-instruction/v1`;
export const rpcPath =
  "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferInstructionAcceptContext";
export const acceptPath = (index: number): string => `${base}/${offerId(index % OFFERS)}/choice-contexts/accept`;

/** Makes the request one of about 1 KB. */
const pad = "x".repeat(700);
export const contextBody = (index: number) => ({ meta: { values: { pad } }, excludeDebugFields: index % 2 === 1 });

const indexes = Array.from({ length: 2 * OFFERS }, (_, index) => index);
const messages = indexes.map((index) =>
  create(GetTransferInstructionContextRequestSchema, {
    registrarParty: registrar,
    transferInstructionId: offerId(index % OFFERS),
    ...contextBody(index),
  }),
);
const binary = messages.map((message) => toBinary(GetTransferInstructionContextRequestSchema, message));
const json = messages.map((message) => toJsonString(GetTransferInstructionContextRequestSchema, message));

/** A deadline is what connect-es has to look after: such a request does not take the short way. */
const DEADLINE = "Connect-Timeout-Ms: 60000\r\n";

export const requests = {
  restAccept: indexes.map((index) => post(acceptPath(index), "application/json", JSON.stringify(contextBody(index)))),
  restTransfer: indexes.map((index) =>
    post(`${base}/transfer-factory`, "application/json", JSON.stringify(transferBody(index))),
  ),
  connectJson: json.map((text) => post(rpcPath, "application/json", text)),
  connectBinary: binary.map((bytes) => post(rpcPath, "application/proto", bytes)),
  connectJsonStock: json.map((text) => post(rpcPath, "application/json", text, DEADLINE)),
  connectBinaryStock: binary.map((bytes) => post(rpcPath, "application/proto", bytes, DEADLINE)),
  grpc: binary.map(frame),
};

function transferBody(index: number) {
  const meta = { values: { pad: pad.slice(0, 300) } };
  return {
    choiceArguments: {
      expectedAdmin: registrar,
      transfer: {
        sender: holder(index),
        receiver: holder(index * 7 + 13),
        amount: "1.0",
        instrumentId: { admin: registrar, id: INSTRUMENT },
        requestedAt: "2026-01-05T09:00:00Z",
        executeBefore: "2036-01-05T09:00:00Z",
        inputHoldingCids: [],
        meta,
      },
      extraArgs: { context: { values: {} }, meta: { values: {} } },
    },
    excludeDebugFields: index % 2 === 1,
  };
}
