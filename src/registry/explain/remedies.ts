import type { Cause } from "../../domain/errors.js";

const SEE = "or let a party whose contracts are read see it";

/**
 * What to do about a cause, as a sentence; empty for codes of a registry module. `at` is the time as at which the request
 * is answered, in milliseconds since 1970; undefined for now.
 */
export function remedyOf(cause: Cause, at: number | undefined): string {
  const { code, registrar, instrument, party, issuer, claims = [], contractId, synchronizers = [] } = cause;
  const template = cause.template?.split(":")[1] ?? "contract";
  switch (code) {
    case "registrar-not-served":
      return `Create an AllocationFactory of registrar ${registrar}, ${SEE}.`;
    case "factory-missing":
      return `Create an AllocationFactory of registrar ${registrar} with the operator and provider of the instrument, ${SEE}.`;
    case "version-not-supported":
      return "Use version 1 of the token standard, or create an AllocationFactory of a newer package.";
    case "several-groups":
      return "Settle the allocations of each operator and provider apart.";
    case "holding-archived":
      return `Use another holding than ${contractId}.`;
    case "instruction-unknown":
      return "Check the contract id and the registrar, or wait until the service has seen it.";
    case "instruction-archived":
      return "Nothing can be done with it any more: use the instruction that replaced it, if there is one.";
    case "configuration-missing":
      return `Create the InstrumentConfiguration of instrument "${instrument}", ${SEE}.`;
    case "rule-missing":
      return `Create a TransferRule of registrar ${registrar}, ${SEE}.`;
    case "holding-missing":
      return "Reject, withdraw or cancel the instruction: it can no longer be executed.";
    case "credential-missing": {
      const listed = claims.map(({ property, value }) => `${property} = ${value}`).join(", ");
      return `Have ${issuer} issue a credential${listed === "" ? "" : ` with ${listed}`} for ${party}, valid ${at === undefined ? "now" : `at ${new Date(at).toISOString()}`}.`;
    }
    case "blocklist-not-configured":
      return "Add an entry for the blocklist, with `when: checkBlocklist`, to the file of OFFLEDGER_CONTEXTS.";
    case "no-common-synchronizer":
      return `Reassign contract ${contractId} to synchronizer ${synchronizers[0]}.`;
    case "limit-exceeded":
      return `Send at most ${cause.maximum} ${cause.limit}.`;
    case "instrument-unknown":
      return `Use an instrument that registrar ${registrar} has.`;
    default:
      if (code.endsWith("-moving")) return `Complete the reassignment of contract ${contractId}, or wait for it.`;
      return code.endsWith("-missing") ? `Create the ${template}, ${SEE}.` : "";
  }
}
