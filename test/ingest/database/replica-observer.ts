/** A follower that is read continuously and compared with past states of the ledger. */
import { setTimeout as delay } from "node:timers/promises";
import { MAX_BODIES } from "../../../src/state/log.js";
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
import { bodyOf, type Contract } from "../../../src/domain/contract.js";
import type { Template } from "../../../src/domain/template.js";
import { NotReady, type View } from "../../../src/state/port.js";
import { parties } from "../../fixtures/elements.js";
import { type Followed, followerOf } from "../../fixtures/follower.js";
import { until } from "../../fixtures/wait.js";
import type { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { holder, idsOf, instrument, numbers, type Pairs, ruleOf, type State, supplyOf } from "./pairs.js";

const { registrar, issuer } = parties;
const listed: readonly Template[] = [instrumentConfiguration, credential, transferOffer, transferRule];
/** The smallest unit of an amount. */
const UNIT = 10n ** 10n;

export class ReplicaObserver {
  /** Descriptions of reads that match no past state. */
  readonly wrong: string[] = [];
  readings = 0;
  /** How often the offset decreased. */
  returns = 0;
  offset = 0;
  readonly #pairs: Pairs;
  readonly #database: Database;
  readonly #followed: Followed;
  readonly #end = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(url: string, pairs: Pairs, cacheBytes: number) {
    this.#pairs = pairs;
    this.#database = new Database({ url, maxConnections: 4 });
    const options = {
      templates,
      contentId: contentId(templates, { countsSupply: true }),
      maxBytes: cacheBytes,
      signal: this.#end.signal,
    };
    this.#followed = followerOf(this.#database, options);
    this.#running = this.#followed.follower.run();
  }

  /** Reads continuously until the signal is aborted. */
  async keepLooking(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#look();
      } catch (error) {
        if (!(error instanceof NotReady)) throw error;
      }
      await delay(3);
    }
  }

  #look(): void {
    const { offset, ...seen } = this.#followed.read(reading);
    this.readings++;
    if (offset < this.offset) this.returns++;
    this.offset = offset;
    const states = this.#pairs.at(offset).map((state) => JSON.stringify(expected(state)));
    const text = JSON.stringify(seen);
    if (!states.includes(text)) this.wrong.push(`at ${offset} ${text} in place of ${states.join(" or ")}`);
  }

  /** All contracts that are kept, as the ledger has them. */
  async contents(): Promise<unknown> {
    const { state, contracts } = this.#followed.read((view) => ({
      state: { generation: view.generation, offset: view.offset },
      contracts: templates.flatMap((template) => view.all<unknown>(template)),
    }));
    const summaries: (readonly unknown[])[] = [];
    for (let from = 0; from < contracts.length; from += MAX_BODIES) {
      const some = contracts.slice(from, from + MAX_BODIES);
      (await this.#followed.bodies?.take(some, state))?.();
      summaries.push(...some.map(summary));
    }
    return byId(summaries);
  }

  /** The contracts under every index key, and the counts per template and package. */
  async lists(): Promise<unknown> {
    return this.#followed.read((view) => ({
      ...reading(view),
      contractCount: view.templateCounts().reduce((sum, { count }) => sum + count, 0),
    }));
  }

  /** Resolves when it is at the offset. It polls each second: the database may be there for a while. */
  caughtUp(offset: number): Promise<void> {
    return until(`the observer is at ${offset}`, () => this.#followed.read((view) => view.offset === offset));
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
