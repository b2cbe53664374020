/** A process that takes the lease of a database, and writes a contract for each message. Its parent ends it. */
import { setTimeout as delay } from "node:timers/promises";
import { Database } from "../../../src/state/postgres/database.js";
import { asDatabaseError } from "../../../src/state/postgres/errors.js";
import { Lease, type LeadershipTerm } from "../../../src/ingest/lease.js";
import { fruit } from "../../fixtures/fruits.js";
import { beginWriter } from "../../fixtures/postgres-schema.js";

/** Messages to the parent. */
export type Said =
  | { readonly holds: number }
  | { readonly ended: true }
  /** The result of a write: "done" or the kind of error; and how often the writer has reported that it is lost. */
  | { readonly wrote: string; readonly lost: number };

const say = (said: Said): void => void process.send?.(said);

const database = new Database({ url: process.argv[2] ?? "", maxConnections: 2 });
const pause = async (milliseconds: number): Promise<void> => delay(milliseconds);
const { signal } = new AbortController();

async function term({ epoch, signal: over }: LeadershipTerm): Promise<void> {
  let lost = 0;
  const writer = await beginWriter(database, { epoch, onLost: () => lost++ });
  process.on("message", (id: string) => {
    const offset = (writer.checkpoint?.offset ?? 0) + 1;
    void writer.apply([{ active: fruit(id) }], offset).then(
      () => say({ wrote: "done", lost }),
      (error: unknown) => say({ wrote: asDatabaseError(error).kind, lost }),
    );
  });
  say({ holds: epoch });
  await new Promise((resolve) => over.addEventListener("abort", resolve));
  say({ ended: true });
}

process.once("disconnect", () => process.exit());
await new Lease({ database, contentId: "tests", pause, signal, onStandby: () => undefined })
  .hold(term)
  .catch(() => undefined);
