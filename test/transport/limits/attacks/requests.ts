/** What the honest caller asks of the demo registry. */
import { contractId, party } from "../../../../demo/element.js";

const registrar = party("nordic-registrar");
const registry = `/api/token-standard/v0/registrars/${registrar}/registry/transfer-instruction/v1`;

export interface HonestRequest {
  readonly path: string;
  readonly body: string;
}

export const TRANSFER_FACTORY_PATH = `${registry}/transfer-factory`;

const transferFactory: HonestRequest = {
  path: TRANSFER_FACTORY_PATH,
  body: JSON.stringify({
    choiceArguments: {
      expectedAdmin: registrar,
      transfer: {
        sender: party("bob"),
        receiver: party("carol"),
        amount: "10.0",
        instrumentId: { admin: registrar, id: "NOK-CASH" },
        requestedAt: "2026-06-01T00:00:00Z",
        executeBefore: "2036-06-01T00:00:00Z",
        inputHoldingCids: [],
        meta: { values: {} },
      },
      extraArgs: { context: {}, meta: {} },
    },
    excludeDebugFields: true,
  }),
};

const accept: HonestRequest = {
  path: `${registry}/${contractId("offer cash to carol")}/choice-contexts/accept`,
  body: JSON.stringify({ meta: {}, excludeDebugFields: true }),
};

export const honestRequests: readonly HonestRequest[] = [transferFactory, accept];
