/** The log of a content in a database, and a follower of it; src/state/postgres/log.ts. */
import { afterAll, beforeAll } from "vitest";
import { HEARTBEAT_STATEMENT } from "../../../src/ingest/leadership.js";
import { contentHash } from "../../../src/state/lookup-hash.js";
import { peekBody, setBody } from "../../../src/domain/contract.js";
import { Follower } from "../../../src/state/follower.js";
import { MAX_BODIES } from "../../../src/state/log.js";
import { channels } from "../../../src/state/postgres/database.js";
import { PostgresLog } from "../../../src/state/postgres/log.js";
import { logTables } from "../../../src/state/postgres/log-tables.js";
import { PostgresWriter } from "../../../src/state/postgres/writer.js";
import { clock, CONTENT, freshSchema, type Schema, tables } from "../../fixtures/postgres-schema.js";
import { storeConformance } from "../conformance/conformance.js";
import { logConformance } from "../log-conformance.js";

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

/** A writer in a new epoch. */
async function nextWriter(origin = "tests"): Promise<{ epoch: number; writer: PostgresWriter }> {
  const [state] = await schema.sql<{ epoch: string }>("UPDATE offledger.state SET epoch = epoch + 1 RETURNING epoch");
  const epoch = Number(state?.epoch);
  const content = { contentId: CONTENT, origin, tables: logTables };
  return { epoch, writer: await PostgresWriter.begin(schema.database, epoch, content, () => undefined) };
}

logConformance("PostgreSQL", async (templates) => {
  const { database } = schema;
  let { epoch, writer } = await nextWriter();
  const next = async (origin?: string) => {
    ({ epoch, writer } = await nextWriter(origin));
    return writer;
  };
  const session = await database.openSession();
  const stored = ["state", ...tables.filter((table) => table.startsWith("log_"))];
  return {
    log: new PostgresLog(database, { templates, contentId: CONTENT }),
    writer,
    otherWriter: () => next("another ledger"),
    async heartbeat(age, otherHistory) {
      await schema.sql(HEARTBEAT_STATEMENT, [epoch, age ?? null, otherHistory ?? null, contentHash(CONTENT)]);
    },
    async trim(offset) {
      await schema.sql("UPDATE offledger.state SET watermark = $1", [offset]);
      await schema.sql("DELETE FROM offledger.log_commits WHERE ledger_offset < $1", [offset]);
      await schema.sql("DELETE FROM offledger.log_tombstones WHERE ledger_offset < $1", [offset]);
    },
    async backup() {
      for (const table of stored) await schema.sql(`CREATE TABLE backup_${table} AS TABLE offledger.${table}`);
      return async () => {
        for (const table of stored) {
          await schema.sql(`DELETE FROM offledger.${table}`);
          await schema.sql(`INSERT INTO offledger.${table} TABLE backup_${table}`);
          await schema.sql(`DROP TABLE backup_${table}`);
        }
        return next();
      };
    },
    async answerRequests() {
      session.on(
        "notification",
        ({ payload }) => void schema.sql("SELECT pg_notify($1, $2)", [channels.caughtUp, payload]),
      );
      await session.query(`LISTEN ${channels.catchUpRequested}`);
    },
    async close() {
      await session.end();
      await schema.empty();
    },
  };
});

/** A follower that has the bodies of all contracts. It moves with each write, and refreshes before each read. */
storeConformance("PostgreSQL by way of a follower", async (templates) => {
  const { writer } = await nextWriter();
  const log = new PostgresLog(schema.database, { templates, contentId: CONTENT });
  const ignore = () => undefined;
  const follower = new Follower({
    log,
    clock,
    pause: async () => undefined,
    signal: new AbortController().signal,
    onLost: ignore,
    onRecovered: ignore,
  });
  const takeBodies = async () => {
    const lacking = follower.read((view) =>
      templates.flatMap((template) => view.all(template)).filter((contract) => peekBody(contract) === undefined),
    );
    for (let from = 0; from < lacking.length; from += MAX_BODIES) {
      const some = lacking.slice(from, from + MAX_BODIES);
      const { bodies } = await log.bodies(some.map(({ contractId }) => contractId));
      for (const contract of some) {
        const body = bodies.get(contract.contractId);
        if (body !== undefined) setBody(contract, { ...body, encodings: undefined });
      }
    }
  };
  return {
    writer: {
      get checkpoint() {
        return writer.checkpoint;
      },
      replace: (...values) => writer.replace(...values),
      async apply(...values) {
        await writer.apply(...values);
        await follower.refresh();
      },
    },
    reader: {
      async read(use) {
        await follower.refresh();
        if (follower.status.offset !== undefined) await takeBodies();
        return follower.read(use);
      },
    },
    close: () => schema.empty(),
  };
});
