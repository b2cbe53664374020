/** A participant whose ledger a client can change: each POST replaces a factory, in one update. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { contractId, synchronizer } from "../../demo/element.js";
import { acme, elements, nordic, operator } from "../../demo/registry.js";
import { play } from "../../test/scripted-participant/elements.js";
import { ScriptedLedger } from "../../test/scripted-participant/ledger.js";
import { Participant } from "../../test/scripted-participant/participant.js";

export interface ChangingLedger {
  /** The participant. */
  readonly url: string;
  readonly parties: string;
  /** Responds to POST with the id of the new factory. */
  readonly changeUrl: string;
  close(): Promise<void>;
}

export async function startChangingLedger(): Promise<ChangingLedger> {
  const ledger = new ScriptedLedger({ synchronizerId: synchronizer, clock: () => new Date() });
  play(ledger, elements);
  const participant = await Participant.start({ ledger, checkpointMs: 50 });
  let current = contractId(`factory of ${nordic.party}`);
  let changes = 0;
  const server = createServer((_request, response) => {
    const { synchronizerId: _, ...factory } = requireContract(ledger, current);
    const next = contractId(`factory ${++changes} of ${nordic.party}`);
    ledger.transact([{ archive: current }, { create: { ...factory, contractId: next } }]);
    current = next;
    response.end(next);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: participant.url,
    parties: [operator, acme.provider, nordic.provider].join(","),
    changeUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      await participant.close();
    },
  };
}

function requireContract(ledger: ScriptedLedger, id: string) {
  const contract = ledger.contracts.get(id);
  if (contract === undefined) throw new Error(`the ledger must have the contract ${id}`);
  return contract;
}
