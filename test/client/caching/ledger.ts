/** Contracts of a registry on a scripted ledger, and a request for a factory that rests on them. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetTransferFactoryRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import type { JsonObject } from "../../../src/domain/json.js";
import { creationsOf } from "../../scripted-participant/elements.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { element, type Options, parties, payload, requirement, type Template } from "../../fixtures/elements.js";

/** The registrar of the contracts, and of the requests unless they name another. */
export const { registrar } = parties;
export const OTHER_REGISTRAR = "other-registrar::1220";
/** What USD requires of its holders and issuers. */
export const CLAIM = "isHolderOf=USD";

/** Creates a contract in an update of its own. */
export function create(
  ledger: ScriptedLedger,
  template: Template,
  id: string,
  argument: JsonObject,
  options: Options = {},
): void {
  // The operator sees all contracts.
  const signed = element(template, id, argument, options);
  const [creation] = creationsOf([signed]);
  if (creation === undefined) throw new Error("an element must give a contract");
  ledger.transact([{ create: { ...creation, signatories: [parties.operator] } }]);
}

/** A ledger on which USD can be transferred: holders need a credential. */
export function createLedger(): ScriptedLedger {
  const ledger = new ScriptedLedger();
  create(ledger, "AllocationFactory", "factory", payload.service());
  const requirements = [requirement([CLAIM])];
  const required = { holderRequirements: requirements, issuerRequirements: requirements };
  create(ledger, "InstrumentConfiguration", "usd", payload.configuration("USD", required));
  create(ledger, "Credential", "credential of alice", payload.credential("alice", [CLAIM]));
  return ledger;
}

/** Replaces the factory: every response that discloses it is another one. */
export function replaceFactory(ledger: ScriptedLedger, archived: string, id: string): void {
  ledger.transact([{ archive: archived }]);
  create(ledger, "AllocationFactory", id, payload.service());
}

/** A transfer from one party to another. */
export const transfer = (
  sender: string,
  receiver: string,
  registrarParty: string = registrar,
): MessageInitShape<typeof GetTransferFactoryRequestSchema> => ({
  registrarParty,
  typedArguments: {
    case: "transferV2",
    value: {
      transfer: {
        sender: { owner: sender },
        receiver: { owner: receiver },
        amount: "10.0",
        instrumentId: { admin: registrarParty, id: "USD" },
      },
      actors: [sender],
    },
  },
});
