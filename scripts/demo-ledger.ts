/**
 * A participant with the demo registry that changes every 2 seconds, for
 * offledger to mirror: npm run demo:ledger [-- --port 7575 --service http://localhost:8080].
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { synchronizer } from "../demo/element.js";
import { acme, elements, nordic, operator } from "../demo/registry.js";
import { exampleRequests, registrar } from "../demo/requests.js";
import { type Change, target, trickle } from "../demo/trickle.js";
import { creationsOf, play } from "../test/scripted-participant/elements.js";
import { ScriptedLedger } from "../test/scripted-participant/ledger.js";
import { Participant } from "../test/scripted-participant/participant.js";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "7575" },
    ms: { type: "string", default: "2000" },
    // The service that follows the participant, for the printed requests.
    service: { type: "string", default: "http://localhost:8080" },
  },
});
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());

const ledger = new ScriptedLedger({ synchronizerId: synchronizer, clock: () => new Date() });
play(ledger, elements);
const participant = await Participant.start({ ledger, port: Number(values.port) }).catch((error: unknown) => {
  process.stderr.write(`cannot listen on port ${values.port}: ${String(error)}\n`);
  return process.exit(1);
});
print(
  `participant with ${ledger.contracts.size} contracts of the demo registry at ${participant.url}. In another shell:`,
);
print(`  export OFFLEDGER_LEDGER_URL=${participant.url}`);
print(`  export OFFLEDGER_LEDGER_PARTIES=${[operator, acme.provider, nordic.provider].join(",")}`);
print("  npm start");
print(`Then try what a wallet requests from registrar ${registrar}:`);
for (const { description, command } of exampleRequests(values.service)) print(`  ${description}:\n    ${command}`);

for (const { change, description } of trickle()) {
  await pause(Number(values.ms), undefined, { signal: stop.signal }).catch(() => {});
  if (stop.signal.aborted) break;
  print(`offset ${apply(change)}: ${description}`);
}
await participant.close();
print("stopped");

function apply(change: Change): number {
  switch (change.type) {
    case "create":
      return ledger.transact(creationsOf(change.elements).map((create) => ({ create })));
    case "archive":
      return ledger.transact(change.contractIds.map((archive) => ({ archive })));
    case "unassign":
      return ledger.unassign(change.contractIds, target);
    case "assign":
      return ledger.assign(change.contractIds);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
