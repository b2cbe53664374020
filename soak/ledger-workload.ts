/** What happens on the ledger: a script of chance that keeps the number of contracts as it is. */
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../test/ingest/database/random.js";
import { HOLDERS, INSTRUMENTS, makes, needsCredentials } from "./model/contracts.js";
import { slots, type World } from "./model/world.js";

/** How many offers are open at a time. */
const OPEN = 300;
/** Updates a second. */
const RATE = 40;
/** Contracts of one update that fills the memory of what was archived. */
const AT_ONCE = 250;

export class Changes {
  readonly counts: Record<string, number> = {};
  readonly #world: World;
  readonly #random: Random;
  #atHome = 0;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
    while (world.open.size < OPEN) this.#offer();
  }

  /** Changes the ledger until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Some updates come together, so that they may be applied in one step.
      const count = this.#random.below(8) > 0 ? 1 : 2 + this.#random.below(10);
      for (let done = 0; done < count; done++) this.once();
      this.#world.forget();
      await delay((count * 1_000) / RATE, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Archives so many contracts: the service remembers that of the last hundred thousand. */
  async fill(count: number, signal: AbortSignal): Promise<void> {
    for (let done = 0; done < count && !signal.aborted; done += AT_ONCE) {
      this.#world.churn(AT_ONCE);
      await delay(20, undefined, { signal }).catch(() => undefined);
    }
  }

  once(): void {
    const sort = this.#random.below(100);
    if (sort < 60) this.#turnOver();
    else if (sort < 72) this.#move();
    else if (sort < 80) this.#credential();
    else if (sort < 88) this.#preapproval();
    else if (sort < 92) this.#configuration();
    else if (sort < 96) this.#service();
    else this.#elsewhere();
  }

  #offer(): void {
    const [random, world] = [this.#random, this.#world];
    world.offer(random.below(HOLDERS), random.below(HOLDERS), random.below(INSTRUMENTS));
    this.#count("offers made");
  }

  /** An offer comes where there is room, and one goes where there is none: the oldest, or any. */
  #turnOver(): void {
    const { open } = this.#world;
    if (open.size < OPEN) return this.#offer();
    const all = [...open.values()];
    const offer = all[this.#random.below(2) === 0 ? 0 : this.#random.below(all.length)];
    if (offer === undefined) return;
    // One that is between synchronizers has to arrive first.
    if (offer.place === "leaving") {
      this.#world.move(offer);
      return this.#count("reassignments");
    }
    this.#world.settle(offer);
    this.#count("offers archived");
  }

  #move(): void {
    const all = [...this.#world.open.values()];
    const leaving = all.find(({ place }) => place === "leaving");
    // Not all at once, so that some can be asked for while they are on their way.
    if (leaving !== undefined && this.#atHome++ % 3 > 0) {
      this.#world.move(leaving);
      return this.#count("reassignments");
    }
    const home = all.filter(({ place }) => place === "home");
    const offer = home[this.#random.below(home.length)];
    if (offer === undefined) return;
    this.#world.move(offer);
    this.#count("reassignments");
  }

  #credential(): void {
    const [holder, instrument] = [this.#random.below(HOLDERS), this.#random.below(INSTRUMENTS)];
    if (!needsCredentials(instrument)) return;
    // Some lapse for a while.
    const made = this.#random.below(6) === 0 ? undefined : makes.credential(holder, instrument);
    this.#world.replace([slots.credential(holder, instrument), made]);
    this.#count("credentials");
  }

  #preapproval(): void {
    const receiver = this.#random.below(HOLDERS);
    const allowances = [[], [this.#random.below(INSTRUMENTS)], [0, 1, 2]][this.#random.below(3)] ?? [];
    const made = this.#random.below(2) === 0 ? undefined : makes.preapproval(receiver, allowances);
    this.#world.replace([slots.preapproval(receiver), made]);
    this.#count("preapprovals");
  }

  #configuration(): void {
    const instrument = this.#random.below(INSTRUMENTS);
    this.#world.replace([slots.configuration(instrument), makes.configuration(instrument)]);
    this.#count("configurations");
  }

  /** The contracts of the provider and the registrar, of which some may be missing. */
  #service(): void {
    const { factory, rule, reward, right, service } = slots;
    const sort = this.#random.below(5);
    if (sort === 0) this.#world.replace([factory, makes.factory()]);
    else if (sort === 1) this.#world.replace([rule, makes.rule()], [factory, makes.factory()]);
    else if (sort === 2) this.#world.replace([reward, this.#random.below(4) === 0 ? undefined : makes.reward()]);
    else if (sort === 3) this.#world.replace([right, this.#random.below(4) === 0 ? undefined : makes.right()]);
    else this.#world.replace([service, makes.service(this.#random.of([true, false, null]))]);
    this.#count("services");
  }

  #elsewhere(): void {
    this.#world.elsewhere();
    this.#count("nothing seen");
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}
