/** Requests to a service that follows `npm run demo:ledger`, as curl commands of one line. */
import { instrumentsCommand, registryUrl } from "../src/cli/output.js";
import type { JsonObject } from "../src/util/json.js";
import { contractId } from "./element.js";
import { acme, alice, bob } from "./registry.js";

export interface ExampleRequest {
  readonly description: string;
  /** For a POSIX shell. */
  readonly command: string;
}

export const registrar = acme.party;

/** Answered at any time: what they name does not change. `url` is that of the service, without a trailing slash. */
export function exampleRequests(url: string): readonly ExampleRequest[] {
  const base = registryUrl(url, registrar);
  const choices = `transfer-instruction/v1/${contractId("offer bond to bob")}/choice-contexts`;
  return [
    { description: "the registrar, and the APIs that it supports", command: `curl '${base}/metadata/v1/info'` },
    { description: "its instruments", command: instrumentsCommand(url, registrar) },
    {
      description: "alice sends ACME-EUR to bob, who has a preapproval: a direct transfer",
      command: post(`${base}/transfer-instruction/v1/transfer-factory`, transfer("ACME-EUR")),
    },
    {
      description: "alice sends ACME-BOND to bob, who will get an offer",
      command: post(`${base}/transfer-instruction/v1/transfer-factory`, transfer("ACME-BOND")),
    },
    {
      description: "bob accepts a pending offer of ACME-BOND",
      command: post(`${base}/${choices}/accept`, { meta: {} }),
    },
    { description: "alice withdraws it", command: post(`${base}/${choices}/withdraw`, { meta: {} }) },
  ];
}

export const transfer = (id: string): JsonObject => ({
  choiceArguments: {
    expectedAdmin: registrar,
    transfer: {
      sender: alice,
      receiver: bob,
      amount: "10.0",
      instrumentId: { admin: registrar, id },
      requestedAt: "2026-06-01T00:00:00Z",
      executeBefore: "2036-06-01T00:00:00Z",
      inputHoldingCids: [],
      meta: { values: {} },
    },
    extraArgs: { context: { values: {} }, meta: { values: {} } },
  },
  excludeDebugFields: true,
});

/** No name in the body has a single quote. */
const post = (url: string, body: JsonObject): string =>
  `curl '${url}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
