/** Changes of the demo registry for `npm run demo:ledger`: transfer offers are created, reassigned and rejected. */
import { transferOffer } from "../src/registry/utility/templates.js";
import type { JsonObject } from "../src/util/json.js";
import { active, contractId, otherSynchronizer } from "./element.js";
import { acme, alice, bob, carol, locked, nordic, offer } from "./registry.js";

export type Change =
  | { readonly type: "create"; readonly elements: readonly JsonObject[] }
  | { readonly type: "archive" | "unassign" | "assign"; readonly contractIds: readonly string[] };

export interface Event {
  readonly change: Change;
  readonly description: string;
}

export const target = otherSynchronizer;

interface OpenOffer {
  readonly name: string;
  readonly contractIds: readonly string[];
}

const MAX_OPEN = 8;

/** Endless: creates and rejects offers; some move to another synchronizer before. */
export function* trickle(): Generator<Event, never> {
  const open: OpenOffer[] = [];
  for (let count = 1; ; count++) {
    const { offer: created, event } = createOffer(count);
    open.push(created);
    yield event;
    const [oldest, ...others] = open;
    if (oldest === undefined || (count % 2 === 1 && open.length < MAX_OPEN)) continue;
    if (count % 4 === 0) {
      yield changeOf(oldest, "unassign", "leaves its synchronizer: offledger answers 409 until it arrives");
      yield changeOf(oldest, "assign", "arrives at the other synchronizer");
    }
    open.splice(0, open.length, ...others);
    yield changeOf(oldest, "archive", "is rejected: offledger answers 404");
  }
}

function createOffer(count: number): { offer: OpenOffer; event: Event } {
  const [registrar, id, sender, receiver] =
    count % 3 === 0 ? ([nordic, "NOK-CASH", bob, carol] as const) : ([acme, "ACME-EUR", alice, bob] as const);
  const label = `trickle ${count}`;
  const amount = `${count}.0000000000`;
  const holding = locked(label, registrar, sender, id, amount);
  const element = active(transferOffer, `offer ${label}`, offer(label, registrar, [sender, receiver], id, amount));
  const ids = [contractId(`offer ${label}`), contractId(`holding ${label}`)];
  const [from, to] = [sender, receiver].map((party) => party.split("::")[0]);
  const description = `offer ${count} of ${id} from ${from} to ${to}: ${ids[0]}`;
  return {
    offer: { name: `offer ${count}`, contractIds: ids },
    event: { change: { type: "create", elements: [holding, element] }, description },
  };
}

function changeOf({ name, contractIds }: OpenOffer, type: "archive" | "unassign" | "assign", event: string): Event {
  return { change: { type, contractIds }, description: `${name} ${event}` };
}
