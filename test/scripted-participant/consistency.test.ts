/** For any script, a snapshot at any offset plus the later updates equals the expected contracts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { creation, eventFormat, operator, updateFormat } from "./test-client.js";
import { filterOf } from "./filters.js";
import { ScriptedLedger } from "./ledger.js";
import type { ActiveContractsElement, CreatedEvent, Update } from "./messages.js";
import { snapshot } from "./snapshot.js";
import { viewOf } from "./updates.js";

interface Held {
  readonly synchronizerId: string | undefined;
  readonly counter: number;
  readonly blob: string | undefined;
}
type State = Map<string, Held>;

const rank = ({ counter, synchronizerId }: Omit<Held, "blob">): number =>
  counter * 2 + (synchronizerId === undefined ? 0 : 1);

/** Of several elements for one contract the later wins: by counter, then the active one. */
function take(state: State, { contractEntry }: ActiveContractsElement): void {
  if (contractEntry === undefined || "JsEmpty" in contractEntry) return;
  const put = ({ contractId, createdEventBlob: blob }: CreatedEvent, counter: number, synchronizerId?: string) => {
    const known = state.get(contractId);
    if (known !== undefined && rank(known) >= rank({ counter, synchronizerId })) return;
    state.set(contractId, { counter, synchronizerId, blob });
  };
  if ("JsActiveContract" in contractEntry) {
    const { createdEvent, reassignmentCounter, synchronizerId } = contractEntry.JsActiveContract;
    put(createdEvent, reassignmentCounter, synchronizerId);
  } else if ("JsIncompleteUnassigned" in contractEntry) {
    const { createdEvent, unassignedEvent } = contractEntry.JsIncompleteUnassigned;
    put(createdEvent, unassignedEvent.reassignmentCounter);
  } else {
    const { createdEvent, reassignmentCounter } = contractEntry.JsIncompleteAssigned.assignedEvent;
    put(createdEvent, reassignmentCounter);
  }
}

function follow(state: State, update: Update): void {
  if ("Transaction" in update) {
    const { events, synchronizerId } = update.Transaction.value;
    for (const event of events) {
      if ("ArchivedEvent" in event) state.delete(event.ArchivedEvent.contractId);
      else if ("CreatedEvent" in event) {
        const { contractId, createdEventBlob: blob } = event.CreatedEvent;
        state.set(contractId, { synchronizerId, counter: 0, blob });
      }
    }
  } else if ("Reassignment" in update) {
    for (const event of update.Reassignment.value.events) {
      if ("JsAssignmentEvent" in event) {
        const { target: synchronizerId, reassignmentCounter: counter, createdEvent } = event.JsAssignmentEvent;
        state.set(createdEvent.contractId, { synchronizerId, counter, blob: createdEvent.createdEventBlob });
      } else {
        const { contractId, reassignmentCounter: counter } = event.JsUnassignedEvent.value;
        const known = state.get(contractId);
        if (known !== undefined && known.counter < counter) {
          state.set(contractId, { ...known, synchronizerId: undefined, counter });
        }
      }
    }
  }
}

const steps = fc.array(
  fc.record({
    does: fc.constantFrom(
      "create",
      "hide",
      "replace",
      "archive",
      "unassign",
      "assign",
      "early",
      "late",
      "enter",
      "back",
    ),
    which: fc.nat(20),
  }),
  { maxLength: 60 },
);

/** Applies a step. An invalid one throws and changes nothing. */
function run(ledger: ScriptedLedger, script: readonly { readonly does: string; readonly which: number }[]): void {
  let made = 0;
  for (const { does, which } of script) {
    const ids = [...ledger.contracts.keys()];
    const id = ids[which % ids.length] ?? "none";
    const target = `S${which % 3}::1220`;
    const next = () => creation(`c${made++}`);
    const actions: Readonly<Record<string, () => unknown>> = {
      create: () => ledger.transact([{ create: next() }, { create: next() }], { synchronizerId: target }),
      hide: () => ledger.transact([{ create: { ...next(), signatories: ["bob::1220"], observers: [] } }]),
      replace: () => ledger.transact([{ archive: id }, { create: next() }]),
      archive: () => ledger.transact([{ archive: id }]),
      unassign: () => ledger.unassign(id, target),
      assign: () => ledger.assign(id),
      early: () => ledger.assignEarly(id, target),
      late: () => ledger.unassignLate(id),
      enter: () => ledger.enter(next(), "X::1220", target, 1 + (which % 4)),
      back: () => ledger.restore(Math.max(0, ledger.end - which)),
    };
    try {
      actions[does]?.();
    } catch {
      // It could not be done.
    }
  }
}

test("a snapshot plus the later updates equals the expected contracts", () => {
  fc.assert(
    fc.property(steps, fc.double({ min: 0, max: 1, noNaN: true }), (script, share) => {
      const ledger = new ScriptedLedger({ offsetsPerTransaction: 1 });
      run(ledger, script);
      const at = Math.floor(ledger.end * share);
      const state: State = new Map();
      for (const element of snapshot(ledger.log.between(0, at), filterOf(eventFormat()))) take(state, element);
      for (const update of ledger.log.between(at).map(viewOf(updateFormat()))) if (update) follow(state, update);
      const visible = [...ledger.contracts.values()].filter(({ signatories }) => signatories.includes(operator));
      expect(Object.fromEntries(state)).toEqual(
        Object.fromEntries(
          visible.map(({ contractId, synchronizerId, reassignmentCounter: counter, createdEventBlob: blob }) => [
            contractId,
            { synchronizerId, counter, blob },
          ]),
        ),
      );
    }),
    { numRuns: 500 },
  );
});
