import { create } from "@bufbuild/protobuf";
import {
  TransferSchema,
  VerifyTransferProofResponse_Status as Status,
} from "../../gen/offledger/transfer/v0/transfer_pb.js";
import { TransferService } from "../../gen/offledger/transfer/v0/transfer_service_pb.js";
import type { QueryExecutor } from "./executor.js";
import { bind, type ServiceBinding } from "./service-binding.js";

/** Proofs of transfers, from the ledger's updates. */
export function transferProofs(executor: QueryExecutor): ServiceBinding {
  return bind(TransferService, {
    async verifyTransferProof({ updateId, transfer }) {
      const { instrumentId: { admin = "", id = "" } = {}, meta, ...given } = transfer ?? create(TransferSchema);
      const terms = { ...given, instrumentId: { admin, id }, meta: meta?.values ?? {} };
      const query = { updateId, transfer: terms };
      const status = await executor.executeHistory((utility, history) => utility.transferProof(history, query));
      return { status: Status[status] };
    },
  });
}
