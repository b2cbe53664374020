import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { GetFreshnessResponseSchema } from "../../../gen/offledger/console/v1/console_pb.js";
import type { FreshnessPoint } from "./console-data.js";

export const freshnessMessage = (
  notReadyReason: string | undefined,
  points: readonly FreshnessPoint[],
): MessageInitShape<typeof GetFreshnessResponseSchema> => ({
  notReadyReason: notReadyReason ?? "",
  points: points.map(({ time, offset = 0, age, reconnects = 0 }) => ({
    time: timestampFromMs(time),
    offset: BigInt(offset),
    age: age === undefined ? undefined : durationFromMs(Math.round(age)),
    reconnects: BigInt(reconnects),
  })),
});
