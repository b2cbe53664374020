import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { GetRequestsResponseSchema } from "../../../gen/offledger/console/v1/console_pb.js";
import type { RequestCounts } from "./console-data.js";

export const requestsMessage = ({
  since,
  operations,
}: RequestCounts): MessageInitShape<typeof GetRequestsResponseSchema> => ({
  since: timestampFromMs(since),
  operations: operations
    .toSorted((a, b) => (a.operation < b.operation ? -1 : 1))
    .map(({ operation, requests, refusals }) => ({
      operation,
      requests: BigInt(requests),
      refusals: Object.fromEntries([...refusals].map(([code, count]) => [code.toWellFormed(), BigInt(count)])),
    })),
});
