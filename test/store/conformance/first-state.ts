import { describe, expect, test } from "vitest";
import { NotReady } from "../../../src/store/port.js";
import { apple, contract } from "./fixtures.js";
import type { Subject } from "./subject.js";

export function withoutStateCases({ store, read }: Subject): void {
  describe("without a state", () => {
    test("a read throws NotReady and does not run", async () => {
      let hasRun = false;
      const reading = read(() => {
        hasRun = true;
      });
      await expect(reading).rejects.toThrow(NotReady);
      expect(hasRun).toBe(false);
    });

    test("a rejected state leaves the store without one", async () => {
      await expect(store.writer.replace([contract(apple, "a"), contract(apple, "a")], 5)).rejects.toThrow(Error);
      await expect(read(() => "read")).rejects.toThrow(NotReady);
    });
  });
}
