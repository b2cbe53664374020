/** The Registry Utility makes allocations at once and rejects choices on allocation instructions. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allocationInstructionChoice } from "../fixtures/requests.js";
import { failure, short } from "../fixtures/context.js";
import { parties } from "../fixtures/elements.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { type Running, serve } from "../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serve(registryOf({}, ...instructions()));
});
afterAll(() => running.close());

describe.each(["accept", "withdraw"] as const)("to %s an allocation instruction", (choice) => {
  const path = allocationInstructionChoice(choice);

  test.each(["00ff", "allocation", "offer"])("is a bad request for any contract id (%s)", async (id) => {
    expect(short(await running.post(path(id), { meta: {} }))).toEqual(failure(400, "allocation instruction"));
  });

  test.each([undefined, {}, { meta: { values: {} } }, { excludeDebugFields: true }])(
    "is the same bad request for a body of %o",
    async (body) => {
      const plain = await running.post(path("00ff"), { meta: {} });
      expect(await running.post(path("00ff"), body)).toMatchObject({ status: 400, body: plain.body });
    },
  );

  test("is not found for a registrar that is not served", async () => {
    for (const registrar of ["nobody::1220", parties.provider]) {
      expect(short(await running.post(path("00ff", registrar), {}))).toEqual(failure(404, registrar));
    }
  });
});
