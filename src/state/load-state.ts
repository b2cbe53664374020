/** Loads a state from a log. */
import { isDeepStrictEqual } from "node:util";
import type { Contract } from "../domain/contract.js";
import type { LoggedContract, LoggedState } from "./log.js";
import type { StateSize } from "./state-size.js";
import { State } from "./state.js";

/**
 * Loads a state, with pauses for others. Contracts that `known` has as well, equal in all that changes, are the same objects.
 * Counted holdings are not loaded: the log has the sums. Throws StateTooLarge if the heap has no room for it, and what the log
 * throws.
 */
export async function loadState(logged: LoggedState, known: State | undefined, size: StateSize): Promise<State> {
  const { head, contracts, archived, sums } = logged;
  const rows = contracts[Symbol.asyncIterator]();
  try {
    const state = await fill(new State(String(head.generation), head.offset, head.asOf), rows, known, size);
    if (state === undefined) {
      for await (const { size: characters } of rest(rows)) size.add(characters, false);
      throw size.tooLarge();
    }
    await state.complete(archived, sums);
    return state;
  } finally {
    await rows.return?.();
  }
}

/** Without a reference to what was loaded once it returns undefined, because it is too large. */
async function fill(
  state: State,
  rows: AsyncIterator<LoggedContract>,
  known: State | undefined,
  size: StateSize,
): Promise<State | undefined> {
  async function* fitting(): AsyncGenerator<Contract> {
    for await (const { contract, size: characters } of rest(rows)) {
      const shared = known && sharedBy(known, contract);
      if (!size.add(characters, shared !== undefined) && !(await size.makeRoom())) throw new Full();
      yield shared ?? contract;
    }
  }
  try {
    await state.fill(fitting());
    return state;
  } catch (error) {
    if (error instanceof Full) return undefined;
    throw error;
  }
}

class Full extends Error {}

/** To leave its loop does not end the rows. */
const rest = <T>(rows: AsyncIterator<T>): AsyncIterable<T> => ({
  [Symbol.asyncIterator]: () => ({ next: () => rows.next() }),
});

function sharedBy(known: State, contract: Contract): Contract | undefined {
  const other = known.byId(contract.contractId);
  const isEqual =
    other?.synchronizerId === contract.synchronizerId &&
    other?.reassignmentCounter === contract.reassignmentCounter &&
    other.template === contract.template &&
    isDeepStrictEqual(other.fields, contract.fields);
  return isEqual ? other : undefined;
}
