/** The ledger of the soak together with the model of it: both are changed here alone, in one step. */
import { ScriptedLedger, type Step } from "../../scripted-participant/ledger.js";
import { ABROAD, HOLDERS, HOME, INSTRUMENTS, type Made, makes, needsCredentials } from "./contracts.js";
import { Timeline } from "./timeline.js";

export interface Offer {
  readonly made: Made;
  readonly locked: Made;
  readonly sender: number;
  readonly receiver: number;
  readonly instrument: number;
  readonly place: "home" | "leaving" | "abroad";
}

/** Names of what there is one of at most. */
export const slots = {
  factory: "factory",
  rule: "rule",
  reward: "reward",
  right: "right",
  service: "service",
  configuration: (instrument: number): string => `configuration ${instrument}`,
  credential: (holder: number, instrument: number): string => `credential ${holder} ${instrument}`,
  preapproval: (holder: number): string => `preapproval ${holder}`,
};

/** How long what has been is remembered, in milliseconds: longer than any request lasts, and any answer may be stale. */
const KEPT_MS = 150_000;
/** Offers that are gone, and may be asked for all the same. */
const GONE = 50;

export class World {
  readonly ledger = new ScriptedLedger({ synchronizerId: HOME });
  readonly contracts = new Timeline<Made>();
  readonly offers = new Timeline<Offer>();
  /** By contract id, the oldest first. */
  readonly open = new Map<string, Offer>();
  readonly gone: Offer[] = [];
  readonly #commits: { readonly offset: number; readonly time: number }[] = [];
  readonly #isMistaken: boolean;
  #told = 0;

  /** Where it is mistaken, the model has another blob of some holdings: answers that are right are then wrong by it. */
  constructor(isMistaken = false) {
    this.#isMistaken = isMistaken;
    this.replace([slots.factory, makes.factory()], [slots.rule, makes.rule()], [slots.service, makes.service(true)]);
    this.replace([slots.reward, makes.reward()], [slots.right, makes.right()]);
    for (let instrument = 0; instrument < INSTRUMENTS; instrument++) {
      this.replace([slots.configuration(instrument), makes.configuration(instrument)]);
      for (let holder = 0; needsCredentials(instrument) && holder < HOLDERS; holder++) {
        this.replace([slots.credential(holder, instrument), makes.credential(holder, instrument)]);
      }
    }
  }

  get end(): number {
    return this.ledger.end;
  }

  /** The ledger's end at a time by `performance.now()`; what is not known any more counts as the first. */
  endAt(time: number): number {
    return this.#commits.findLast((commit) => commit.time <= time)?.offset ?? 0;
  }

  /** What there is of each name now is archived, and what is given put in its place, in one update. */
  replace(...changes: readonly (readonly [slot: string, made: Made | undefined])[]): void {
    const steps = changes.flatMap(([slot, made]): Step[] => {
      const old = this.contracts.at(slot, this.end);
      return [...(old ? [{ archive: old.contractId }] : []), ...(made ? [{ create: made }] : [])];
    });
    const offset = this.#committed(this.ledger.transact(steps, { synchronizerId: HOME }));
    for (const [slot, made] of changes) this.contracts.set(slot, offset, made);
  }

  offer(sender: number, receiver: number, instrument: number): void {
    const offer: Offer = { ...makes.offer(sender, receiver, instrument), sender, receiver, instrument, place: "home" };
    const steps = [{ create: offer.locked }, { create: offer.made }];
    this.#tell(offer, this.ledger.transact(steps, { synchronizerId: HOME }));
  }

  /** The offer is archived with its holding. */
  settle({ made, locked, ...offer }: Offer): void {
    const { contractId } = made;
    const offset = this.#committed(
      this.ledger.transact([{ archive: contractId }, { archive: locked.contractId }], {
        synchronizerId: offer.place === "abroad" ? ABROAD : HOME,
      }),
    );
    this.offers.set(contractId, offset, undefined);
    this.open.delete(contractId);
    this.gone.push({ ...offer, made, locked });
    if (this.gone.length > GONE) this.gone.shift();
  }

  /** The offer leaves its synchronizer, or arrives at the other one. */
  move(offer: Offer): void {
    const ids = [offer.made.contractId, offer.locked.contractId];
    if (offer.place === "home") this.#tell({ ...offer, place: "leaving" }, this.ledger.unassign(ids, ABROAD));
    else if (offer.place === "leaving") this.#tell({ ...offer, place: "abroad" }, this.ledger.assign(ids));
  }

  /** Contracts that come and go at once, of which only the memory of their archival may be left. */
  churn(count: number): void {
    const fillers = Array.from({ length: count }, makes.filler);
    this.#committed(this.ledger.transact(fillers.map((create) => ({ create }))));
    this.#committed(this.ledger.transact(fillers.map(({ contractId: archive }) => ({ archive }))));
  }

  /** An update that nobody sees. */
  elsewhere(): void {
    this.#committed(this.ledger.elsewhere());
  }

  /** Forgets what no answer can be of any more. */
  forget(): void {
    const before = performance.now() - KEPT_MS;
    const offset = this.endAt(before);
    this.contracts.forget(offset);
    this.offers.forget(offset);
    const first = this.#commits.findLastIndex(({ time }) => time <= before);
    if (first > 0) this.#commits.splice(0, first);
  }

  #tell(offer: Offer, offset: number): void {
    const isMistaken = this.#isMistaken && ++this.#told % 5 === 0;
    const locked = isMistaken ? { ...offer.locked, createdEventBlob: "another" } : offer.locked;
    this.offers.set(offer.made.contractId, this.#committed(offset), { ...offer, locked });
    this.open.set(offer.made.contractId, offer);
  }

  #committed(offset: number): number {
    this.#commits.push({ offset, time: performance.now() });
    return offset;
  }
}
