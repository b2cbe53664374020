import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WarningSchema } from "../../../gen/offledger/console/v1/console_pb.js";
import { refusalStatus } from "../../registry/sdk/warnings.js";
import type { Warning } from "../../registry/sdk/registry.js";

export const warningMessage = ({
  kind,
  registrar,
  instrument = "",
  contractId = "",
  party = "",
  operations,
  refusal,
  problem,
  remedy,
}: Warning): MessageInitShape<typeof WarningSchema> => ({
  kind,
  registrar,
  instrument,
  contractId,
  party,
  operations: [...operations],
  status: refusal === undefined ? 0 : refusalStatus[refusal],
  problem: problem.toWellFormed(),
  remedy: remedy.toWellFormed(),
});
