import type { Message } from "@bufbuild/protobuf";
import type { EncodableResponse } from "../encoding/encodable-response.js";
import type { ChunkList } from "../encoding/chunk-list.js";
import type { Operation } from "../operations.js";

/** Calls an operation and hands on what `write` makes of its answer, or why there is none: once, and at once where it can. */
export function answering(
  { call }: Operation,
  request: Message,
  write: (answer: EncodableResponse) => ChunkList,
  done: (body: ChunkList) => void,
  fail: (error: unknown) => void,
): void {
  let body: ChunkList;
  try {
    const found = call(request);
    if (found instanceof Promise) {
      void later(found, write, done, fail);
      return;
    }
    body = write(found);
  } catch (error) {
    fail(error);
    return;
  }
  done(body);
}

async function later(
  found: Promise<EncodableResponse>,
  write: (answer: EncodableResponse) => ChunkList,
  done: (body: ChunkList) => void,
  fail: (error: unknown) => void,
): Promise<void> {
  let body: ChunkList;
  try {
    body = write(await found);
  } catch (error) {
    fail(error);
    return;
  }
  done(body);
}
