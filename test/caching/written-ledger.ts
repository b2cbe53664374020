import type { Change, Contract, CountedOnly } from "../../src/domain/contract.js";
import { Decoder } from "../../src/ledger/decode.js";
import type { Template } from "../../src/domain/template.js";
import type { ContractDraft } from "../rules/model/contract-arbitraries.js";
import type { Ledger } from "../rules/model/ledger.js";
import { RandomLedger, type Step } from "../rules/model/random-ledger.js";
import { decode, storeChange } from "../rules/model/run-script.js";
import type { Deployment } from "./deployment.js";
import type { History } from "./history.js";

/** A random ledger that is written into a deployment. Records each state. */
export class WrittenLedger {
  readonly #ledger = new RandomLedger();
  readonly #deployment: Deployment;
  readonly #history: History;
  readonly #decoder: Decoder;
  #past: { readonly contracts: Ledger; readonly offset: number }[] = [];
  #offset = 10;

  constructor(templates: readonly Template[], deployment: Deployment, history: History) {
    this.#decoder = new Decoder(templates, true);
    this.#deployment = deployment;
    this.#history = history;
  }

  get contracts(): Ledger {
    return this.#ledger.contracts;
  }

  async begin(drafts: readonly ContractDraft[]): Promise<void> {
    for (const draft of drafts) this.#ledger.apply({ does: "create", draft });
    await this.snapshot();
  }

  async update(steps: readonly Step[]): Promise<void> {
    const happened = steps.flatMap((step) => this.#ledger.apply(step));
    await this.#apply(happened.flatMap((change) => storeChange(this.#decoder, change)));
    await this.#record();
  }

  /** Changes to contracts that nobody knows. */
  async flood(updates: number, count: number): Promise<void> {
    for (let update = 1; update <= updates; update++)
      await this.#apply(Array.from({ length: count }, (_, index) => ({ archived: `flood ${update} ${index}` })));
    await this.#record();
  }

  /** The same contracts as a new generation. */
  async snapshot(): Promise<void> {
    await this.#deployment.writer().replace(this.#decoded(), this.#offset, this.#asOf);
    await this.#record();
  }

  /** Back to an earlier time at a lower offset, from which the ledger takes another way. */
  async restore(which: number): Promise<void> {
    const at = which % this.#past.length;
    const { contracts, offset } = this.#past[at] ?? { contracts: [], offset: this.#offset };
    this.#past = this.#past.slice(0, at + 1);
    this.#ledger.restore(contracts);
    this.#offset = offset;
    await this.snapshot();
  }

  async #apply(changes: readonly Change[]): Promise<void> {
    this.#offset++;
    await this.#deployment.writer().apply(changes, this.#offset, this.#asOf);
  }

  async #record(): Promise<void> {
    this.#past.push({ contracts: this.contracts, offset: this.#offset });
    const generation = await this.#deployment.generation();
    this.#history.record({ generation, offset: this.#offset, asOf: this.#asOf, contracts: this.#decoded() });
  }

  #decoded(): (Contract | CountedOnly)[] {
    return this.contracts.flatMap((contract) => decode(this.#decoder, contract) ?? []);
  }

  /** The record time of what happens now, in microseconds. */
  get #asOf(): number {
    return this.#deployment.clocks.now() * 1000;
  }
}
