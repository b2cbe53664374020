/** A participant that starts when it is told to. Until then a service that mirrors it has read no contracts. */
import { synchronizer } from "../../demo/element.js";
import { acme, elements, nordic, operator } from "../../demo/registry.js";
import { play } from "../../test/scripted-participant/elements.js";
import { ScriptedLedger } from "../../test/scripted-participant/ledger.js";
import { Participant } from "../../test/scripted-participant/participant.js";

export class LateParticipant {
  readonly url: string;
  readonly parties = [operator, acme.provider, nordic.provider].join(",");
  readonly #ledger: ScriptedLedger;
  readonly #port: number;
  #started: Promise<Participant> | undefined;

  /** Reserves a port. */
  static async create(): Promise<LateParticipant> {
    const ledger = new ScriptedLedger({ synchronizerId: synchronizer, clock: () => new Date() });
    play(ledger, elements);
    const first = await Participant.start({ ledger });
    await first.close();
    return new LateParticipant(first.url, first.port, ledger);
  }

  private constructor(url: string, port: number, ledger: ScriptedLedger) {
    this.url = url;
    this.#port = port;
    this.#ledger = ledger;
  }

  /** Starts it, once. */
  async start(): Promise<void> {
    await (this.#started ??= Participant.start({ ledger: this.#ledger, port: this.#port }));
  }

  async close(): Promise<void> {
    const participant = await this.#started;
    await participant?.close();
  }
}
