/**
 * A scripted participant in a process of its own, so that it does not share a
 * core with what is measured. Takes commands from its parent: {fill, flood, trickle}.
 */
import { setTimeout as delay } from "node:timers/promises";
import { payload } from "../../test/fixtures/elements.js";
import { type Creation, ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";

export type Command =
  /** Creates so many offers with their locked holdings, half as many of each. */
  | { readonly fill: number }
  /** Commits so many updates as fast as it can. */
  | { readonly flood: number }
  /** Commits so many updates a second, for so many seconds; tells of every `sample`th. */
  | { readonly trickle: number; readonly seconds: number; readonly sample: number };

export type Told =
  | { readonly url: string }
  | { readonly done: "fill" | "flood" | "trickle"; readonly end: number }
  /** An offer that was committed, at milliseconds since 1970. */
  | { readonly offer: string; readonly at: number };

const ledger = new ScriptedLedger();
const participant = await Participant.start({ ledger });
let created = 0;
tell({ url: participant.url });

process.on("message", (command: Command) => void carryOut(command));
process.on("disconnect", () => void participant.stop());

async function carryOut(command: Command): Promise<void> {
  if ("fill" in command) {
    for (let count = 0; count < command.fill; count += 2) commit();
    tell({ done: "fill", end: ledger.end });
  } else if ("flood" in command) {
    for (let count = 0; count < command.flood; count++) commit();
    tell({ done: "flood", end: ledger.end });
  } else {
    const begun = performance.now();
    const total = command.trickle * command.seconds;
    for (let count = 0; count < total;) {
      const due = Math.min(total, ((performance.now() - begun) / 1000) * command.trickle);
      for (; count < due; count++) {
        const offer = commit();
        if (count % command.sample === 0) tell({ offer, at: performance.timeOrigin + performance.now() });
      }
      await delay(1);
    }
    tell({ done: "trickle", end: ledger.end });
  }
}

/** An offer and its locked holding, in one transaction; the offer's id has the length of a real one. */
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

function creation(packageName: string, entity: string, contractId: string, argument: Creation["payload"]): Creation {
  return {
    contractId,
    packageName,
    templateId: `${"c".repeat(64)}:${entity}`,
    payload: argument,
    // 1 KB, as a created event has.
    createdEventBlob: Buffer.from(contractId.repeat(6)).toString("base64"),
    signatories: ["operator::1220"],
  };
}

function tell(told: Told): void {
  process.send?.(told);
}
