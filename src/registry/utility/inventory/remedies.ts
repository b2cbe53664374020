import type { WarningKind } from "../../sdk/registry.js";

const SEE = "or let a party whose contracts are read see it";
const WAIT = "Complete the reassignment, or wait until it has arrived";

/** What to do about each kind of warning. */
export const remedies: Readonly<Record<WarningKind, string>> = {
  "no-factory": `Create an AllocationFactory of the registrar, ${SEE}`,
  "no-configuration": `Create the InstrumentConfiguration, ${SEE}`,
  "no-rule": `Create a TransferRule of the registrar, ${SEE}`,
  "configuration-in-reassignment": WAIT,
  "contract-in-reassignment": WAIT,
  "instruction-in-reassignment": WAIT,
  "no-common-synchronizer": "Reassign these contracts to one synchronizer",
  "blocklist-not-configured":
    "Add an entry for the blocklist, with `when: checkBlocklist`, to the file of OFFLEDGER_CONTEXTS",
  "contract-missing": `Create the contract, ${SEE}, or change the entry`,
  "holding-missing": "Reject, withdraw or cancel it: it can no longer be executed",
  "credentials-missing": "Have the issuer issue the credential, unless the wallet adds one that is not stored here",
  "credential-expires": "Have the issuer issue a new credential before then",
};
