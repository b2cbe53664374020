/** The demo's requests and what they need, found in its file by what the contracts say. */
import { readFileSync } from "node:fs";
import type { JsonObject } from "../../src/domain/json.js";
import { contractId } from "../../demo/element.js";
import { acme, alice, bob } from "../../demo/registry.js";
import * as requests from "../fixtures/requests.js";
import type { Kind, Place, Situation } from "./world.js";

interface DemoContract {
  readonly contractId: string;
  readonly templateId: string;
  readonly createArgument: JsonObject;
}

export const demoElements: readonly JsonObject[] = readFileSync("demo/registry.ndjson", "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as JsonObject);

interface DemoElement {
  readonly contractEntry: { readonly JsActiveContract?: { readonly createdEvent: DemoContract } };
}

/** Undefined for a contract in reassignment. */
const contractOf = (element: JsonObject): DemoContract | undefined =>
  (element as unknown as DemoElement).contractEntry.JsActiveContract?.createdEvent;

/** The one contract of a template whose arguments have all of these texts. */
function place(kind: Kind, entity: string, names: string, ...texts: readonly string[]): Place {
  const found = demoElements.filter((element) => {
    const contract = contractOf(element);
    if (contract === undefined || !contract.templateId.endsWith(`:${entity}`)) return false;
    const argument = JSON.stringify(contract);
    return texts.every((text) => argument.includes(text));
  });
  const [element] = found;
  if (element === undefined || found.length > 1) throw new Error(`${found.length} contracts of ${entity} fit`);
  return { kind, id: contractOf(element)?.contractId ?? "", names, element };
}

const BOND = "ACME-BOND";
const registrar = acme.party;
const factory = place("factory", "AllocationFactory", registrar, registrar);
const configuration = place("configuration", "InstrumentConfiguration", BOND, `"id":"${BOND}"`);
const rule = place("rule", "TransferRule", registrar, registrar);
const credential = (party: string): Place => place("credential", "Credential", party, `"subject":"${party}"`, BOND);
const offer = place("instruction", "TransferOffer", contractId("offer bond to bob"), contractId("offer bond to bob"));
const transfer = requests.transferV1(alice, bob);
const body = JSON.parse(
  JSON.stringify(transfer).replaceAll("registrar::1220", registrar).replaceAll('"USD"', `"${BOND}"`),
) as JsonObject;

export const demoSituations: readonly Situation[] = [
  {
    operation: `POST ${requests.transferFactory(registrar)}`,
    body,
    needs: [factory, configuration, credential(alice)],
  },
  {
    operation: `POST ${requests.transferChoice("v1", "accept")(offer.id, registrar)}`,
    body: { meta: {} },
    needs: [offer, configuration, rule, credential(alice), credential(bob)],
  },
];
