/** Queries for pairs, with the state of the ledger that each response shows. */
import { setTimeout as delay } from "node:timers/promises";
import { parties } from "../../fixtures/elements.js";
import { allInstrumentConfigurations, transferChoice, transferFactory, transferV1 } from "../../fixtures/requests.js";
import { registry } from "../../fixtures/run-service.js";
import {
  holder,
  idsOf,
  instrument,
  numbers,
  offsetAt,
  type Pairs,
  PAIRS,
  ruleOf,
  supplyOf,
  type Tag,
  tagOf,
} from "./pairs.js";
import type { Random } from "./random.js";
import { type Answer, ask } from "./services.js";

/** A response, and what it shows of the ledger. */
export interface Shown extends Answer {
  /** The tags of all pairs, if the response shows all of them. */
  readonly tags?: readonly Tag[];
  /** Why the response is impossible; undefined if it is possible. */
  readonly wrong?: string;
}

interface Disclosing {
  readonly disclosedContracts: readonly { readonly contractId: string }[];
}

const metadata = `${registry()}/metadata/v1/instruments?pageSize=100`;

/** The factory of a transfer discloses the configuration of an instrument and the credential of its sender. */
export async function askFactory(url: string, pair: number): Promise<Shown> {
  const transfer = { instrumentId: { admin: parties.registrar, id: instrument(pair) } };
  const answer = await ask(url + transferFactory(), transferV1(holder(pair), "bob", transfer));
  if (answer.status !== 200) return answer;
  const { disclosedContracts } = answer.body.choiceContext as unknown as Disclosing;
  const ids = disclosedContracts.map(({ contractId }) => contractId);
  const of = (prefix: string) => ids.filter((id) => id.startsWith(prefix)).map(tagOf);
  const [configurations, credentials] = [of(`configuration-${pair}-`), of(`credential-${pair}-`)];
  const isWhole = configurations.length === 1 && credentials.length === 1 && configurations[0] === credentials[0];
  return isWhole ? answer : { ...answer, wrong: `the factory of pair ${pair} discloses ${ids.join(", ")}` };
}

/** Accepting an offer discloses all contracts of a pair but one, and the single contract. */
export async function askAccept(url: string, pair: number, tag: Tag): Promise<Shown> {
  const ids = idsOf(pair, tag);
  const answer = await ask(url + transferChoice("v2", "accept")(ids.offer), { meta: {} });
  if (answer.status !== 200) return answer;
  const { disclosedContracts } = answer.body as unknown as Disclosing;
  const disclosed = disclosedContracts.map(({ contractId }) => contractId);
  const others = disclosed.filter((id) => !id.startsWith(ruleOf("" as Tag)));
  const expected = [ids.configuration, ids.credential, ids.locked];
  const isWhole = others.toSorted().join() === expected.toSorted().join() && disclosed.length === 4;
  return isWhole ? answer : { ...answer, wrong: `accepting ${ids.offer} discloses ${disclosed.join(", ")}` };
}

/** All configurations, of one state. */
export async function askConfigurations(url: string, pairs: Pairs): Promise<Shown> {
  const answer = await ask(url + allInstrumentConfigurations);
  if (answer.status !== 200) return answer;
  const { instrumentConfigurations } = answer.body as unknown as {
    readonly instrumentConfigurations: readonly { readonly contract: { readonly contractId: string } }[];
  };
  const ids = instrumentConfigurations.map(({ contract }) => contract.contractId).toSorted();
  const tags = ids.map(tagOf);
  const isKnown = ids.length === PAIRS && pairs.having(tags).length > 0;
  return isKnown ? { ...answer, tags } : { ...answer, wrong: `there never were ${ids.join(", ")} at once` };
}

/** All supplies, and the time of their state. */
async function askSupplies(url: string, pairs: Pairs): Promise<Shown> {
  const answer = await ask(url + metadata);
  if (answer.status !== 200) return answer;
  const { instruments } = answer.body as unknown as {
    readonly instruments: readonly { readonly totalSupply: string; readonly totalSupplyAsOf: string }[];
  };
  const supplies = instruments.map(({ totalSupply }) => Number(totalSupply)).join();
  const offset = offsetAt(instruments[0]?.totalSupplyAsOf ?? "");
  // A snapshot carries the time at which it was taken, from which no offset follows.
  if (offset === undefined) return answer;
  const states = pairs.at(offset);
  const state = states.find(({ tags }) => numbers.map((pair) => supplyOf(tags[pair] ?? "0.0")).join() === supplies);
  if (state !== undefined) return { ...answer, tags: state.tags };
  return { ...answer, wrong: `supplies at offset ${offset} never were ${supplies}` };
}

/** A random query. Offers are excluded: their tag must be known. */
export function askAny(url: string, pairs: Pairs, random: Random): Promise<Shown> {
  const sort = random.below(4);
  if (sort < 2) return askFactory(url, random.below(PAIRS));
  return sort === 2 ? askConfigurations(url, pairs) : askSupplies(url, pairs);
}

/** Asks a service all the time, and records impossible answers. */
export class Caller {
  readonly wrong: string[] = [];
  readonly statuses: Record<number, number> = {};
  /** Of what was refused. */
  readonly bodies = new Set<string>();
  answers = 0;

  async keepAsking(signal: AbortSignal, query: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; !signal.aborted; turn++) {
      await query(turn);
      await delay(5);
    }
  }

  note({ status, body, wrong }: Shown, allowed: readonly number[] = [200]): void {
    this.answers++;
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (status !== 200) this.bodies.add(JSON.stringify(body));
    if (wrong !== undefined) this.wrong.push(wrong);
    if (!allowed.includes(status)) this.wrong.push(`${status} ${JSON.stringify(body)}`);
  }
}
