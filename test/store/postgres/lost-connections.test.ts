/** A connection that is lost within a transaction fails that transaction, and not the process. */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DatabaseError } from "../../../src/store/postgres/errors.js";
import { freshSchema, type Schema } from "../../fixtures/postgres-schema.js";

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

test("a transaction fails if its connection is lost, and the next one succeeds", async () => {
  const { database } = schema;
  for (let round = 0; round < 10; round++) {
    const lost = database.transaction(async (client) => {
      const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      await schema.sql("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
      // An unhandled error event would end the process here.
      await delay(20);
      await client.query("SELECT 1");
    });
    await expect(lost).rejects.toThrow(DatabaseError);
    await expect(lost).rejects.toMatchObject({ kind: "unavailable" });
    const made = database.transaction(async (client) => (await client.query<{ one: number }>("SELECT 1 AS one")).rows);
    expect(await made).toEqual([{ one: 1 }]);
  }
});
