import { VerifyTransferProofResponse_Status as Status } from "../../gen/offledger/transfer/v0/transfer_pb.js";
import { TransferService } from "../../gen/offledger/transfer/v0/transfer_service_pb.js";
import type { QueryExecutor } from "./executor.js";
import { bind, type ServiceBinding } from "./service-binding.js";

/** Proofs of transfers, from the ledger's updates. */
export function transferProofs(executor: QueryExecutor): ServiceBinding[] {
  return [
    bind(TransferService, {
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
        const query = { updateId, transfer: terms };
        const status = await executor.executeHistory((utility, history) => utility.transferProof(history, query));
        return { status: Status[status] };
      },
    }),
  ];
}
