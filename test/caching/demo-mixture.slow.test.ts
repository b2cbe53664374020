/**
 * How many answers are dropped without need: on the demo registry, with changes in the proportions of a registry in use,
 * at least every other dropped answer has changed.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { trickle } from "../../demo/trickle.js";
import type { Change } from "../../src/domain/change.js";
import type { JsonObject } from "../../src/domain/json.js";
import { Decoder } from "../../src/ledger/decode.js";
import { successfulCalls } from "../fixtures/calls/index.js";
import { acme } from "../fixtures/calls/build.js";
import { onTransfer } from "../fixtures/calls/operations.js";
import type { Call } from "../fixtures/protocols.js";
import { Random } from "../ingest/database/random.js";
import { subjects } from "../rules/model/subjects.js";
import { inMemory } from "./deployment.js";
import { DocumentedClient } from "./documented-client.js";

const UPDATES = 400;
const SEED = 20_261_123;

const lines = readFileSync(new URL("../../demo/registry.ndjson", import.meta.url), "utf8")
  .trim()
  .split("\n");
const elements = lines.map((line) => JSON.parse(line) as JsonObject);

interface Created {
  contractId: string;
  createdAt: string;
  templateId: string;
}
const createdOf = (element: JsonObject): Created | undefined =>
  (element["contractEntry"] as { JsActiveContract?: { createdEvent: Created } }).JsActiveContract?.createdEvent;

/** The changes of a ledger: mostly offers, and now and then a contract that is replaced. */
class Mixture {
  readonly #random = new Random(SEED);
  readonly #events = trickle();
  readonly #decoder: Decoder;
  readonly #known = new Map<string, JsonObject>();
  #replaced = 0;
  readonly #gone = new Set<JsonObject>();

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  next(): readonly Change[] {
    const kind = this.#random.below(100);
    if (kind < 76) return this.#offer();
    if (kind < 86) return this.#replace(":Credential");
    if (kind < 94) return this.#replace(":TransferPreapproval");
    if (kind < 97) return this.#replace(":InstrumentConfiguration");
    return this.#replace(":RegistrarService", ":TransferRule", ":AllocationFactory");
  }

  /** Offers that are open. */
  get offers(): readonly string[] {
    return [...this.#known].flatMap(([contractId, element]) =>
      createdOf(element)?.templateId.endsWith(":TransferOffer") === true ? [contractId] : [],
    );
  }

  #offer(): readonly Change[] {
    const { change } = this.#events.next().value;
    if (change.type === "create") return change.elements.flatMap((element) => this.#create(element));
    return change.contractIds.flatMap((contractId): Change[] => {
      if (change.type === "unassign") return [{ unassigned: contractId, reassignmentCounter: 1 }];
      const element = this.#known.get(contractId);
      if (change.type === "assign") return element === undefined ? [] : this.#create(element, 2);
      this.#known.delete(contractId);
      return [{ archived: contractId }];
    });
  }

  #create(element: JsonObject, reassignmentCounter = 0): Change[] {
    const contract = this.#decoder.decode(element)?.contract;
    if (contract === undefined) return [];
    this.#known.set(contract.contractId, element);
    const synchronizerId = reassignmentCounter === 0 ? contract.synchronizerId : "private-domain::1220";
    return [{ active: { ...contract, synchronizerId, reassignmentCounter } }];
  }

  /** Renews a contract of these templates. Every fourth is only archived, and created again the next time. */
  #replace(...names: readonly string[]): readonly Change[] {
    const all = elements.filter((element) => names.some((name) => createdOf(element)?.templateId.endsWith(name)));
    const element = all[this.#random.below(all.length)];
    const created = element === undefined ? undefined : createdOf(element);
    if (element === undefined || created === undefined) throw new Error(`the demo has no ${names.join(" or ")}`);
    const archived = this.#gone.has(element) ? [] : [{ archived: created.contractId }];
    if (archived.length > 0 && this.#random.below(4) === 0) {
      this.#gone.add(element);
      return archived;
    }
    this.#gone.delete(element);
    const number = ++this.#replaced;
    created.contractId = `${created.contractId.slice(0, 130)}${String(number).padStart(8, "0")}`;
    created.createdAt = new Date(Date.UTC(2026, 4, 1) + number * 1_000).toISOString();
    const { contract } = this.#decoder.decode(element) ?? {};
    return contract === undefined ? archived : [...archived, { active: contract }];
  }
}

test("at least every other answer that is dropped has changed", async () => {
  const subject = subjects["by default"];
  if (subject === undefined) throw new Error("no subject");
  const decoder = new Decoder(subject.registry.templates);
  const deployment = inMemory(subject.registry, false);
  const [service] = deployment.services;
  if (service === undefined) throw new Error("no service");
  const writer = deployment.writer();
  const mixture = new Mixture(decoder);
  const client = new DocumentedClient(deployment.clocks, 1_000);
  const end = new AbortController();
  const calls = new Map<string, Call>(Object.entries(successfulCalls));
  const figures = { dropped: 0, changed: 0, kept: 0 };
  const count = async ({ key, body }: { readonly key: string; readonly body: string }): Promise<void> => {
    const call = calls.get(key);
    if (call === undefined) throw new Error(`no call ${key}`);
    const now = await service.respond(call);
    figures.dropped++;
    if (now.status !== 200 || now.body !== body) figures.changed++;
  };
  try {
    await writer.replace(
      elements.flatMap((element) => decoder.decode(element)?.contract ?? []),
      4_000,
    );
    await deployment.settle();
    client.streamOpened();
    const counted: Promise<void>[] = [];
    const reading = (async () => {
      for await (const event of service.watch({ registrars: [], tags: [], resumeToken: "" }, end.signal))
        counted.push(...client.handle(event).map(count));
    })();
    await deployment.pass(0);
    for (const [key, call] of calls) client.receive(key, await service.respond(call));
    // Some change with each update, and are not kept.
    for (const key of calls.keys()) if (client.use(key) === undefined) calls.delete(key);
    for (let update = 1; update <= UPDATES; update++) {
      for (const offer of mixture.offers) calls.set(offer, onTransfer("v1", "accept", offer, acme));
      for (const [key, call] of calls)
        if (client.use(key) === undefined) client.receive(key, await service.respond(call));
      figures.kept = Math.max(figures.kept, client.kept.length);
      await writer.apply(mixture.next(), 4_000 + update);
      await deployment.settle();
      await Promise.all(counted.splice(0));
    }
    end.abort();
    await reading;
  } finally {
    await deployment.close();
  }
  console.log(
    `of ${figures.dropped} answers that were dropped, ${figures.changed} had changed; up to ${figures.kept} kept`,
  );
  expect(figures.kept).toBeGreaterThan(30);
  expect(figures.dropped).toBeGreaterThan(UPDATES);
  expect(figures.changed / figures.dropped).toBeGreaterThanOrEqual(0.5);
});
