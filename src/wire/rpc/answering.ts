import type { Message } from "@bufbuild/protobuf";
import type { Answer } from "../answer/answer.js";
import type { Pieces } from "../answer/pieces.js";
import type { Operation } from "../operations.js";

/** Calls an operation and hands on what `write` makes of its answer, or why there is none: once, and at once where it can. */
export function answering(
  { call }: Operation,
  request: Message,
  write: (answer: Answer) => Pieces,
  done: (body: Pieces) => void,
  fail: (error: unknown) => void,
): void {
  let body: Pieces;
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
  found: Promise<Answer>,
  write: (answer: Answer) => Pieces,
  done: (body: Pieces) => void,
  fail: (error: unknown) => void,
): Promise<void> {
  let body: Pieces;
  try {
    body = write(await found);
  } catch (error) {
    fail(error);
    return;
  }
  done(body);
}
