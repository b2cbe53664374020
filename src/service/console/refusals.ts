import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ListRefusalsResponseSchema, RefusedRequestSchema } from "../../../gen/offledger/console/v1/console_pb.js";
import { causeMessage } from "../messages/cause.js";
import type { RefusedRequest } from "./console-data.js";

/** With a code, only the refusals for which it is a cause. */
export const refusalsMessage = (
  refusals: readonly RefusedRequest[],
  code: string,
): MessageInitShape<typeof ListRefusalsResponseSchema> => ({
  refusals: refusals
    .filter(({ causes }) => code === "" || causes.some((cause) => cause.code === code))
    .map(refusalMessage),
});

function refusalMessage(refused: RefusedRequest): MessageInitShape<typeof RefusedRequestSchema> {
  const { requestId, time, operation, protocol, status, message, causes, request } = refused;
  return {
    requestId,
    time: timestampFromMs(time),
    operation,
    protocol,
    status,
    error: message.toWellFormed(),
    causes: causes.map(causeMessage),
    ...(request !== undefined && { request }),
  };
}
