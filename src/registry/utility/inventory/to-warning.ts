import type { Warning, WarningKind } from "../../sdk/registry.js";
import type { EntryInputs } from "../entries/context-entry.js";
import { instrumentConfiguration } from "../templates/instruments.js";
import type { Problem } from "./find-problems.js";
import { remedies } from "./remedies.js";

/** What an operation was attempted on. */
export interface Subject {
  readonly registrar: string;
  readonly instrument: string;
  /** The pending instruction, and what messages call it; undefined for a factory. */
  readonly instruction?: { readonly contractId: string; readonly label: string } | undefined;
}

export function toWarning(problem: Problem, subject: Subject, inputs: EntryInputs, operation: string): Warning {
  const { registrar, instrument, instruction } = subject;
  const { error, refusal, scope, moving } = problem;
  const kind = kindOf(problem);
  const isOfInstruction = scope === "inputs" && instruction !== undefined;
  const about = isOfInstruction ? `${instruction.label} ${instruction.contractId}: ` : "";
  return {
    kind,
    registrar,
    instrument: scope === "registrar" ? undefined : instrument,
    contractId: isOfInstruction ? instruction.contractId : moving?.contractId,
    party: kind === "credentials-missing" ? partyOf(problem, inputs) : undefined,
    operations: [operation],
    refusal,
    problem: about + error.message,
    remedy: remedies[kind],
  };
}

function kindOf({ line, error, moving }: Problem): WarningKind {
  switch (error.reason) {
    case "invalid":
      return "blocklist-not-configured";
    case "conflict":
      if (moving === undefined) return "no-common-synchronizer";
      return moving.template === instrumentConfiguration ? "configuration-in-reassignment" : "contract-in-reassignment";
    default:
      return kindByMissingLine.get(line) ?? "contract-missing";
  }
}

/** By the entry or disclosure whose contract does not exist. */
const kindByMissingLine = new Map<string | undefined, WarningKind>([
  ["instrument-configuration", "no-configuration"],
  ["instrument-configurations", "no-configuration"],
  ["transfer-rule", "no-rule"],
  ["locked-holding", "holding-missing"],
  ["allocation-holdings", "holding-missing"],
  ["sender-credentials", "credentials-missing"],
  ["receiver-credentials", "credentials-missing"],
  ["issuer-credentials", "credentials-missing"],
  ["holder-credentials", "credentials-missing"],
]);

/** The party whose credentials the line has; undefined if there are several. */
function partyOf({ line }: Problem, { sender, receiver, issuers = [], holders = [] }: EntryInputs): string | undefined {
  if (line === "sender-credentials") return sender;
  if (line === "receiver-credentials") return receiver;
  const parties = line === "issuer-credentials" ? issuers : holders.map(({ party }) => party);
  return parties.length === 1 ? parties[0] : undefined;
}
