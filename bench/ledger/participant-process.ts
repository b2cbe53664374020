/**
 * A scripted participant in its own process, so that it does not share a core
 * with the measured service. Runs the commands of its parent.
 */
import { setTimeout as delay } from "node:timers/promises";
import { payload } from "../../test/fixtures/elements.js";
import { type Creation, ScriptedLedger } from "../../test/scripted-participant/ledger.js";
import { Participant } from "../../test/scripted-participant/participant.js";

export type Command =
  /** Creates so many contracts: one half offers, the other their locked holdings. */
  | { readonly fill: number }
  | { readonly flood: number }
  /** Commits `trickle` updates a second for `seconds`; reports every `sample`th. */
  | { readonly trickle: number; readonly seconds: number; readonly sample: number };

export type Message =
  | { readonly url: string }
  | { readonly done: "fill" | "flood" | "trickle"; readonly end: number }
  /** A committed offer; `at` in milliseconds since 1970. */
  | { readonly offer: string; readonly at: number };

const ledger = new ScriptedLedger();
const participant = await Participant.start({ ledger });
let created = 0;
report({ url: participant.url });

process.on("message", (command: Command) => void run(command));
process.on("disconnect", () => void participant.stop());

async function run(command: Command): Promise<void> {
  if ("fill" in command) {
    for (let count = 0; count < command.fill; count += 2) commit();
    report({ done: "fill", end: ledger.end });
  } else if ("flood" in command) {
    for (let count = 0; count < command.flood; count++) commit();
    report({ done: "flood", end: ledger.end });
  } else {
    const startedAt = performance.now();
    const total = command.trickle * command.seconds;
    for (let count = 0; count < total;) {
      const due = Math.min(total, ((performance.now() - startedAt) / 1000) * command.trickle);
      for (; count < due; count++) {
        const offer = commit();
        if (count % command.sample === 0) report({ offer, at: performance.timeOrigin + performance.now() });
      }
      await delay(1);
    }
    report({ done: "trickle", end: ledger.end });
  }
}

/** Creates an offer and its locked holding in one transaction. Returns the offer's id. */
function commit(): string {
  const number = String(created++).padStart(64, "0");
  const offer = `00${number}ca121220${"a".repeat(64)}`;
  const holding = `00${number}ca121220${"b".repeat(64)}`;
  const app = "utility-registry-app-v0";
  ledger.transact([
    {
      create: creation(
        app,
        "Utility.Registry.App.V0.Model.Transfer:TransferOffer",
        offer,
        payload.offer("alice", "bob", "USD", holding),
      ),
    },
    {
      create: creation(
        "utility-registry-holding-v0",
        "Utility.Registry.Holding.V0.Holding:Holding",
        holding,
        payload.lockedHolding("alice", "USD"),
      ),
    },
  ]);
  return offer;
}

function creation(
  packageName: string,
  qualifiedName: string,
  contractId: string,
  argument: Creation["payload"],
): Creation {
  return {
    contractId,
    packageName,
    templateId: `${"c".repeat(64)}:${qualifiedName}`,
    payload: argument,
    // About 1 KB, as in a real created event.
    createdEventBlob: Buffer.from(contractId.repeat(6)).toString("base64"),
    signatories: ["operator::1220"],
  };
}

function report(message: Message): void {
  process.send?.(message);
}
