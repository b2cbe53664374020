import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { WatchResponseSchema } from "../../../gen/offledger/watch/v1/watch_pb.js";
import { encodedOnce } from "../../../src/transport/watch/watch-calls.js";

const rest = { generation: "g", offset: 7n, recordTime: { seconds: 5n, nanos: 3000 }, resumeToken: "7.g" };

test("an event that is encoded once is read as the event", () => {
  const tags = Array.from({ length: 1_000 }, (_, index) => index.toString(16).padStart(8, "0"));
  const message = create(WatchResponseSchema, { event: { case: "changed", value: { tags } }, ...rest });
  const encoded = encodedOnce(message);
  expect(encoded.event.case).toBeUndefined();
  expect(fromBinary(WatchResponseSchema, toBinary(WatchResponseSchema, encoded))).toEqual(message);
  expect(encodedOnce(message)).toBe(encoded);
});

test("an event without tags, and one of another type, stay what they are", () => {
  const empty = create(WatchResponseSchema, { event: { case: "changed", value: {} }, ...rest });
  expect(fromBinary(WatchResponseSchema, toBinary(WatchResponseSchema, encodedOnce(empty)))).toEqual(empty);
  const reset = create(WatchResponseSchema, {
    event: { case: "reset", value: {} },
    generation: "g",
    resumeToken: "7.g",
  });
  expect(encodedOnce(reset)).toBe(reset);
});
