/** A replica that is read continuously and compared with past states of the ledger. */
import { setTimeout as delay } from "node:timers/promises";
import {
  credential,
  instrumentConfiguration,
  templates,
  transferRule,
} from "../../../src/registry/utility/templates.js";
import { transferOffer } from "../../../src/registry/utility/templates.js";
import { indexKeys } from "../../../src/registry/utility/templates.js";
import { contentId } from "../../../src/state/postgres/content-id.js";
import { Database } from "../../../src/state/postgres/database.js";
import { ReplicaSync } from "../../../src/state/postgres/replica-sync.js";
import { Replica } from "../../../src/state/postgres/replica.js";
import { bodyOf, type Contract } from "../../../src/domain/contract.js";
import type { Template } from "../../../src/domain/template.js";
import { NotReady, type View } from "../../../src/state/port.js";
import { parties } from "../../fixtures/elements.js";
import type { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { holder, idsOf, instrument, numbers, type Pairs, ruleOf, type State, supplyOf } from "./pairs.js";

const { registrar, issuer } = parties;
const listed: readonly Template[] = [instrumentConfiguration, credential, transferOffer, transferRule];
/** The smallest unit of an amount. */
const UNIT = 10n ** 10n;

const clock = (): number => performance.now();

export class ReplicaObserver {
  /** Descriptions of reads that match no past state. */
  readonly wrong: string[] = [];
  readings = 0;
  /** How often the offset decreased. */
  returns = 0;
  offset = 0;
  readonly #pairs: Pairs;
  readonly #database: Database;
  readonly #replica: Replica;
  readonly #end = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(url: string, pairs: Pairs, cacheBytes: number) {
    const { signal } = this.#end;
    this.#pairs = pairs;
    this.#database = new Database({ url, maxConnections: 4 });
    this.#replica = new Replica(this.#database, {
      templates,
      contentId: contentId(templates, true),
      cacheBytes,
      clock,
    });
    const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
    const parts = {
      database: this.#database,
      replica: this.#replica,
      contentId: contentId(templates, true),
      clock,
      pause,
      signal,
    };
    this.#running = new ReplicaSync({ ...parts, onLost: () => undefined, onRecovered: () => undefined }).run();
  }

  /** Reads continuously until the signal is aborted. */
  async keepLooking(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#look();
      } catch (error) {
        if (!(error instanceof NotReady)) throw error;
      }
      await delay(3);
    }
  }

  async #look(): Promise<void> {
    const { offset, ...seen } = await this.#replica.read(reading);
    this.readings++;
    if (offset < this.offset) this.returns++;
    this.offset = offset;
    const states = this.#pairs.at(offset).map((state) => JSON.stringify(expected(state)));
    const text = JSON.stringify(seen);
    if (!states.includes(text)) this.wrong.push(`at ${offset} ${text} in place of ${states.join(" or ")}`);
  }

  /** All contracts that are kept, as the ledger has them. A request may not read so many templates. */
  async contents(): Promise<unknown> {
    return this.#replica
      .openScan()
      .read((view) => byId(templates.flatMap((template) => view.all(template)).map(summary)));
  }

  /** The contracts under every index key, and the counts per template and package. */
  async lists(): Promise<unknown> {
    return this.#replica.read((view) => ({
      ...reading(view),
      contractCount: view.templateCounts().reduce((sum, { count }) => sum + count, 0),
    }));
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
    await this.#database.close();
  }
}

function reading(view: View) {
  const configurations = numbers.map((pair) => indexKeys.instrument(registrar, instrument(pair)));
  const credentials = numbers.map((pair) => indexKeys.credential(issuer, holder(pair)));
  return {
    offset: view.offset,
    configurations: configurations.map((key) => ids(view.byKey(instrumentConfiguration, key))),
    credentials: credentials.map((key) => ids(view.byKey(credential, key))),
    listed: ids(view.byKey(instrumentConfiguration, indexKeys.instruments(registrar))),
    all: listed.map((template) => ids(view.all<unknown>(template))),
    sums: view.sums(numbers.map((pair) => indexKeys.supply(registrar, instrument(pair)))).map(String),
  };
}

/** The same, by the model. */
export function expected({ tags, single }: Pick<State, "tags" | "single">): object {
  const of = (what: keyof ReturnType<typeof idsOf>) => tags.map((tag, pair) => idsOf(pair, tag)[what]);
  const configurations = of("configuration");
  return {
    configurations: configurations.map((id) => [id]),
    credentials: of("credential").map((id) => [id]),
    listed: configurations.toSorted(),
    all: [configurations, of("credential"), of("offer"), [ruleOf(single)]].map((all) => all.toSorted()),
    sums: tags.map((tag) => String(BigInt(supplyOf(tag)) * UNIT)),
  };
}

/** The expected content of a database for a ledger. */
export const expectedContracts = ({ contracts }: ScriptedLedger): unknown[] =>
  byId(
    [...contracts.values()]
      .filter(({ contractId }) => !contractId.startsWith("holding-"))
      .map((one) => [
        one.contractId,
        one.templateId,
        one.payload,
        one.createdEventBlob,
        one.createdAt,
        one.synchronizerId,
        one.reassignmentCounter,
      ]),
  );

const summary = (one: Contract): readonly unknown[] => [
  one.contractId,
  one.templateId,
  JSON.parse(bodyOf(one).payload),
  bodyOf(one).createdEventBlob,
  one.createdAt,
  one.synchronizerId,
  one.reassignmentCounter,
];

const ids = (contracts: readonly Contract[]): string[] => contracts.map(({ contractId }) => contractId).toSorted();

const byId = (all: (readonly unknown[])[]): unknown[] => all.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
