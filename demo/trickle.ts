/** What goes on in the demo registry while somebody watches: transfer offers come, go, and move. */
import { transferOffer } from "../src/registry/utility/templates/instructions.js";
import type { JsonObject } from "../src/domain/json.js";
import { active, contractId, otherSynchronizer } from "./element.js";
import { acme, alice, bob, carol, locked, nordic, offer } from "./registry.js";

/** One change to the ledger. Contracts are named by their ids, new ones told by elements. */
export type Change =
  | { readonly does: "create"; readonly elements: readonly JsonObject[] }
  | { readonly does: "archive" | "unassign" | "assign"; readonly contractIds: readonly string[] };

export interface Event {
  readonly change: Change;
  /** What it means, in a line. */
  readonly says: string;
}

/** Where contracts are moved to. */
export const target = otherSynchronizer;

interface Offered {
  readonly name: string;
  readonly contractIds: readonly string[];
}

/** No more offers than these are open at a time. */
const MOST_OPEN = 8;

/** Changes without end: offers come and are rejected, and now and then one moves to another synchronizer. */
export function* trickle(): Generator<Event, never> {
  const open: Offered[] = [];
  for (let count = 1; ; count++) {
    const { offered, event } = newOffer(count);
    open.push(offered);
    yield event;
    const [oldest, ...others] = open;
    if (oldest === undefined || (count % 2 === 1 && open.length < MOST_OPEN)) continue;
    if (count % 4 === 0) {
      yield on(oldest, "unassign", "leaves its synchronizer: until it arrives, offledger answers 409");
      yield on(oldest, "assign", "arrives at the other synchronizer");
    }
    open.splice(0, open.length, ...others);
    yield on(oldest, "archive", "is rejected: offledger answers 404");
  }
}

function newOffer(count: number): { offered: Offered; event: Event } {
  const [registrar, id, sender, receiver] =
    count % 3 === 0 ? ([nordic, "NOK-CASH", bob, carol] as const) : ([acme, "ACME-EUR", alice, bob] as const);
  const label = `trickle ${count}`;
  const amount = `${count}.0000000000`;
  const holding = locked(label, registrar, sender, id, amount);
  const element = active(transferOffer, `offer ${label}`, offer(label, registrar, [sender, receiver], id, amount));
  const ids = [contractId(`offer ${label}`), contractId(`holding ${label}`)];
  const [from, to] = [sender, receiver].map((party) => party.split("::")[0]);
  const says = `offer ${count} of ${id} from ${from} to ${to}: ${ids[0]}`;
  return {
    offered: { name: `offer ${count}`, contractIds: ids },
    event: { change: { does: "create", elements: [holding, element] }, says },
  };
}

function on({ name, contractIds }: Offered, does: "archive" | "unassign" | "assign", what: string): Event {
  return { change: { does, contractIds }, says: `${name} ${what}` };
}
