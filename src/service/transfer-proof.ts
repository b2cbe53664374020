import { VerifyTransferProofResponse_Status as Status } from "../../gen/offledger/transfer/v0/transfer_pb.js";
import { TransferService } from "../../gen/offledger/transfer/v0/transfer_service_pb.js";
import type { Engine } from "../registry/engine.js";
import { offer, type Offered } from "./handlers.js";

/** Proofs of transfers, from the updates of the ledger. */
export function transferProofs(engine: Engine): Offered[] {
  return [
    offer(TransferService, {
      async verifyTransferProof({ updateId, transfer }) {
        const { sender = "", receiver = "", amount = "", requestedAt = "", executeBefore = "" } = transfer ?? {};
        const { admin = "", id = "" } = transfer?.instrumentId ?? {};
        const terms = {
          sender,
          receiver,
          amount,
          instrumentId: { admin, id },
          requestedAt,
          executeBefore,
          inputHoldingCids: transfer?.inputHoldingCids ?? [],
          meta: transfer?.meta?.values ?? {},
        };
        const question = { updateId, transfer: terms };
        const status = await engine.askHistory((utility, history) => utility.transferProof(history, question));
        return { status: Status[status] };
      },
    }),
  ];
}
