import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { PacedRejections } from "../../src/auth/paced-rejections.js";

const PER_TURN = 32;
const WAITING = 1_024;

function createRejections() {
  const rejections = new PacedRejections();
  const done: number[] = [];
  const reject = (from: number, to: number) => {
    for (let number = from; number < to; number++) rejections.run(() => done.push(number));
  };
  return { done, reject };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

test("few are done at once", () => {
  const { done, reject } = createRejections();
  reject(0, PER_TURN);
  expect(done).toEqual(numbers(0, PER_TURN));
});

test("many are spread over turns of the event loop, in their order", async () => {
  const { done, reject } = createRejections();
  reject(0, 100);
  expect(done).toEqual(numbers(0, 32));
  await nextTurn();
  expect(done).toEqual(numbers(0, 64));
  // Those that waited come first.
  reject(100, 101);
  await nextTurn();
  expect(done).toEqual(numbers(0, 96));
  await nextTurn();
  expect(done).toEqual(numbers(0, 101));
  await nextTurn();
  reject(101, 133);
  expect(done).toEqual(numbers(0, 133));
});

test("those beyond a bound do not wait", async () => {
  const { done, reject } = createRejections();
  const bound = PER_TURN + WAITING;
  reject(0, bound + 5);
  expect(done).toEqual([...numbers(0, PER_TURN), ...numbers(bound, bound + 5)]);
  for (let turn = 0; turn < WAITING / PER_TURN; turn++) await nextTurn();
  expect(done.toSorted((a, b) => a - b)).toEqual(numbers(0, bound + 5));
});
