/** Two services on one PostgreSQL database, whose replicas are refreshed by steps. */
import { setTimeout as delay } from "node:timers/promises";
import type { Contract, CountedOnly } from "../../src/domain/contract.js";
import type { Registry } from "../../src/registry/sdk/registry.js";
import { sumHash } from "../../src/store/lookup-hash.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import type { StoreWriter } from "../../src/store/port.js";
import { Replica } from "../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../src/store/postgres/writer.js";
import { tagOf } from "../../src/store/lookup-hash.js";
import { clock, type Schema } from "../fixtures/postgres-schema.js";
import { NOW } from "../rules/model/contract-arbitraries.js";
import { type Deployment, tagsSince } from "./deployment.js";
import { InProcessService } from "./in-process-service.js";
import type { DatabaseStep } from "./steps.js";

const CONTENT = { contentId: "tests", origin: "tests" };
/** The second evicts nearly everything. */
const CACHE_BYTES = [10_000_000, 8_000];
/** Timers fire in the order of their times: after this the events of a change have arrived. */
const MERGE_MS = 2;
const SETTLE_MS = 8;

interface Answering {
  readonly replica: Replica;
  readonly service: InProcessService;
}

export async function onPostgres(schema: Schema, registry: Registry, countsHoldings: boolean): Promise<Deployment> {
  await schema.empty();
  const { database } = schema;
  const { templates } = registry;
  let time = NOW;
  const now = () => time;
  const replicaOf = (cacheBytes: number) => new Replica(database, { templates, contentId: "tests", cacheBytes, clock });
  const start = (index: number): Answering => {
    const replica = replicaOf(CACHE_BYTES[index] ?? 0);
    const { changes } = replica;
    const streams = { mergeMs: MERGE_MS };
    return {
      replica,
      service: new InProcessService({ registry, reader: replica, changes, now, countsHoldings, streams }),
    };
  };
  const begin = (epoch: number) => PostgresWriter.begin(database, epoch, CONTENT, () => undefined);
  let epoch = 0;
  let writer = await begin(epoch);
  const answering = CACHE_BYTES.map((_, index) => start(index));
  /** Sees every state, and has at least the tags of a store in memory. */
  const observer = replicaOf(0);
  const inMemory = new MemoryStore();
  /** A store in memory also names the sum of a contract that is reassigned, which stays the same. */
  const sums = new Set<string>();
  const noteSum = ({ supply }: Contract | CountedOnly): void => {
    if (supply !== undefined) sums.add(tagOf(sumHash(supply.sum)));
  };
  const checkTags = async (since: number): Promise<void> => {
    await observer.refresh();
    const tags = tagsSince(observer.changes, since);
    const needed = [...(tagsSince(inMemory.changes, since) ?? [])].filter((tag) => !sums.has(tag));
    const missing = needed.filter((tag) => tags?.has(tag) === false);
    if (missing.length > 0) throw new Error(`the changes after ${since} lack the tags ${missing.join(", ")}`);
  };
  const both: StoreWriter = {
    get checkpoint() {
      return writer.checkpoint;
    },
    async replace(...args) {
      for (const contract of args[0]) noteSum(contract);
      await inMemory.replace(...args);
      await writer.replace(...args);
      await observer.refresh();
    },
    async apply(...args) {
      const before = writer.checkpoint?.offset ?? 0;
      for (const change of args[0]) if ("active" in change) noteSum(change.active);
      await inMemory.apply(...args);
      await writer.apply(...args);
      await checkTags(before);
    },
  };

  const restart = async (index: number): Promise<void> => {
    answering[index]?.service.close();
    answering[index] = start(index);
    await answering[index].replica.refresh();
    await delay(SETTLE_MS);
  };
  const changeWriter = async (): Promise<void> => {
    const before = writer;
    await schema.sql("UPDATE offledger.state SET epoch = $1", [++epoch]);
    writer = await begin(epoch);
    const offset = (before.checkpoint?.offset ?? 0) + 1;
    const failure = await before.apply([], offset).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure === undefined) throw new Error("a writer that had lost its lease has written");
  };
  return {
    clocks: { now, elapsed: clock },
    get services() {
      return answering.map(({ service }) => service);
    },
    writer: () => both,
    async generation() {
      const [row] = await schema.sql<{ generation: string }>("SELECT generation FROM offledger.state");
      return `${row?.generation}.configured`;
    },
    changedSince: async (offset) => tagsSince(observer.changes, offset),
    async pass(ms) {
      time += ms;
      await delay(1);
    },
    async settle() {
      for (const { replica } of answering) await replica.refresh();
      await delay(SETTLE_MS);
      await delay(SETTLE_MS);
    },
    async other(step: DatabaseStep) {
      if (step.does === "refresh") await answering[step.replica]?.replica.refresh();
      else if (step.does === "restart") await restart(step.replica);
      else if (step.does === "clean up") await writer.cleanUp();
      else await changeWriter();
    },
    async close() {
      for (const { service } of answering) service.close();
    },
  };
}
