import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

const MICROS_PER_SECOND = 1_000_000;

/** Microseconds since 1970 as a message. */
export function timestamp(micros: number): Timestamp {
  const seconds = Math.floor(micros / MICROS_PER_SECOND);
  return create(TimestampSchema, {
    seconds: BigInt(seconds),
    nanos: (micros - seconds * MICROS_PER_SECOND) * 1_000,
  });
}
