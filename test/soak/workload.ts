/** Random ledger changes that keep the number of contracts constant. */
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../ingest/database/random.js";
import { factories, HOLDERS, INSTRUMENTS, needsCredentials, slots, type World } from "./world.js";

const OPEN_OFFERS = 300;
const UPDATES_PER_SECOND = 40;
const FILL_BATCH = 250;

export class LedgerWorkload {
  readonly counts: Record<string, number> = {};
  readonly #world: World;
  readonly #random: Random;
  #arrivals = 0;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
    while (world.open.size < OPEN_OFFERS) this.#createOffer();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Some updates come in bursts, so that the service applies them in one step.
      const count = this.#random.below(8) > 0 ? 1 : 2 + this.#random.below(10);
      for (let done = 0; done < count; done++) this.#changeOnce();
      this.#world.forget();
      await delay((count * 1_000) / UPDATES_PER_SECOND, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Archives `count` contracts, which the service remembers. */
  async fillArchivals(count: number, signal: AbortSignal): Promise<void> {
    for (let done = 0; done < count && !signal.aborted; done += FILL_BATCH) {
      this.#world.commitFillers(FILL_BATCH);
      await delay(20, undefined, { signal }).catch(() => undefined);
    }
  }

  #changeOnce(): void {
    const kind = this.#random.below(100);
    if (kind < 60) this.#createOrArchiveOffer();
    else if (kind < 72) this.#reassignOffer();
    else if (kind < 80) this.#replaceCredential();
    else if (kind < 88) this.#replacePreapproval();
    else if (kind < 92) this.#replaceConfiguration();
    else if (kind < 96) this.#replaceService();
    else this.#commitUnseen();
  }

  #createOffer(): void {
    const [random, world] = [this.#random, this.#world];
    world.createOffer(random.below(HOLDERS), random.below(HOLDERS), random.below(INSTRUMENTS));
    this.#count("offers created");
  }

  /** Archives the oldest offer or a random one where the registry is full. */
  #createOrArchiveOffer(): void {
    const { open } = this.#world;
    if (open.size < OPEN_OFFERS) return this.#createOffer();
    const all = [...open.values()];
    const offer = all[this.#random.below(2) === 0 ? 0 : this.#random.below(all.length)];
    if (offer === undefined) return;
    if (offer.location === "leaving") {
      this.#world.reassign(offer);
      return this.#count("reassignments");
    }
    this.#world.archiveOffer(offer);
    this.#count("offers archived");
  }

  #reassignOffer(): void {
    const all = [...this.#world.open.values()];
    const leaving = all.find(({ location }) => location === "leaving");
    // One of three stays in transit for a while, so that it is also queried then.
    if (leaving !== undefined && this.#arrivals++ % 3 > 0) {
      this.#world.reassign(leaving);
      return this.#count("reassignments");
    }
    const home = all.filter(({ location }) => location === "home");
    const offer = home[this.#random.below(home.length)];
    if (offer === undefined) return;
    this.#world.reassign(offer);
    this.#count("reassignments");
  }

  #replaceCredential(): void {
    const [holder, instrument] = [this.#random.below(HOLDERS), this.#random.below(INSTRUMENTS)];
    if (!needsCredentials(instrument)) return;
    const credential = this.#random.below(6) === 0 ? undefined : factories.credential(holder, instrument);
    this.#world.replace([slots.credential(holder, instrument), credential]);
    this.#count("credentials");
  }

  #replacePreapproval(): void {
    const receiver = this.#random.below(HOLDERS);
    const allowances = [[], [this.#random.below(INSTRUMENTS)], [0, 1, 2]][this.#random.below(3)] ?? [];
    const preapproval = this.#random.below(2) === 0 ? undefined : factories.preapproval(receiver, allowances);
    this.#world.replace([slots.preapproval(receiver), preapproval]);
    this.#count("preapprovals");
  }

  #replaceConfiguration(): void {
    const instrument = this.#random.below(INSTRUMENTS);
    this.#world.replace([slots.configuration(instrument), factories.configuration(instrument)]);
    this.#count("configurations");
  }

  #replaceService(): void {
    const { factory, rule, reward, right, service } = slots;
    const kind = this.#random.below(5);
    if (kind === 0) this.#world.replace([factory, factories.factory()]);
    else if (kind === 1) this.#world.replace([rule, factories.rule()], [factory, factories.factory()]);
    else if (kind === 2) this.#world.replace([reward, this.#random.below(4) === 0 ? undefined : factories.reward()]);
    else if (kind === 3) this.#world.replace([right, this.#random.below(4) === 0 ? undefined : factories.right()]);
    else this.#world.replace([service, factories.service(this.#random.of([true, false, null]))]);
    this.#count("services");
  }

  #commitUnseen(): void {
    this.#world.commitUnseen();
    this.#count("unseen updates");
  }

  #count(change: string): void {
    this.counts[change] = (this.counts[change] ?? 0) + 1;
  }
}
