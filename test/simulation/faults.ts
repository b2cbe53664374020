/** What the steps of a script do to the participant. */
import { LedgerError } from "../../src/ledger/participant/errors.js";
import { refusal, withNulls } from "../scripted-participant/errors.js";
import type { VirtualParticipant, Wire } from "./participant.js";
import { type LedgerStep, type ParticipantStep, type StreamFault, take } from "./script.js";

const streamFaults: Readonly<Record<StreamFault, (wire: Wire) => void>> = {
  cut: (wire) => wire.end(new LedgerError("lost", "the stream was cut (close code 1006)")),
  error(wire) {
    wire.send(withNulls(refusal("SERVER_IS_SHUTTING_DOWN", "injected").error));
    wire.end("closed");
  },
  // A finite stream that is closed early cannot be told from a whole one.
  close: (wire) => wire.end(wire.isFinite ? new LedgerError("lost", "cut") : "closed"),
  silence(wire) {
    wire.isSilent = true;
  },
  dead: (wire) => wire.die(),
  unreadable: (wire) => wire.send({ update: "nonsense" }),
};

/** `packages` are all that the participant may have. */
export function takeAt(
  participant: VirtualParticipant,
  packages: readonly string[],
  step: LedgerStep | ParticipantStep,
): void {
  const { ledger, packageNames, wires } = participant;
  const takeOnLedger = (one: LedgerStep) => take(ledger, one, (name) => packageNames.has(name));
  switch (step.do) {
    case "upload":
      return void packages.some((name) => !packageNames.has(name) && packageNames.add(name));
    case "stop":
    case "start":
      return participant[step.do]();
    case "clear":
      ledger.clear();
      for (const name of packages.slice(step.packages)) packageNames.delete(name);
      return participant.cutAll();
    case "move":
      for (const wire of wires) wire.die();
      if (step.to === "empty") ledger.clear();
      else if (!takeOnLedger({ do: "restore", share: 0.5 })) return;
      participant.cutAll();
      for (let count = 0; count < step.creates; count++) takeOnLedger({ do: "create", what: ["offer"] });
      return;
    case "call":
      for (let count = 0; count < step.times; count++) participant.callFaults.push(step.fault);
      return;
    case "search":
      for (let count = 0; count < step.times; count++) participant.searchFaults.push(step.fault);
      return;
    case "slowSnapshot":
      return void participant.snapshotDelays.push(step.ms);
    case "stream":
      if (step.streams === "next") participant.streamFaults.push(streamFaults[step.fault]);
      else for (const wire of wires) streamFaults[step.fault](wire);
      return;
    default:
      if (takeOnLedger(step) && step.do === "restore") participant.cutAll();
  }
}

/** Ends all faults. */
export function mend(participant: VirtualParticipant, packages: readonly string[]): void {
  const { callFaults, streamFaults: ofStreams, searchFaults, snapshotDelays, packageNames } = participant;
  for (const faults of [callFaults, ofStreams, searchFaults, snapshotDelays]) faults.length = 0;
  for (const name of packages) packageNames.add(name);
  participant.start();
}
