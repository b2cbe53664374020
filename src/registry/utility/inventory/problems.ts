/** Trying operations on what is stored, without a request, and what their failures are warnings of. */
import type { Contract } from "../../../domain/contract.js";
import { errorIn, type RegistryError, type RegistryErrorReason } from "../../../domain/errors.js";
import type { Template } from "../../../domain/template.js";
import type { TemplateCount, View } from "../../../store/port.js";
import type { CheckContext, Warning, WarningKind } from "../../sdk/registry.js";
import type { ContextDefinition, EntryInputs } from "../context.js";
import { instrumentConfiguration } from "../templates.js";
import type { OperationLines } from "./operations.js";

/** Passes every read on, and records the first contract in reassignment that was read. */
class RecordingView implements View {
  readonly #view: View;
  #moving: Contract | undefined;

  constructor(view: View) {
    this.#view = view;
  }

  /** The first contract in reassignment that was read since the last call. */
  takeMoving(): Contract | undefined {
    const moving = this.#moving;
    this.#moving = undefined;
    return moving;
  }

  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    const found = this.#view.byId(template, contractId);
    if (found?.synchronizerId === undefined) this.#moving ??= found;
    return found;
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    const found = this.#view.byKey(template, key);
    this.#moving ??= found.find(({ synchronizerId }) => synchronizerId === undefined);
    return found;
  }

  get generation(): string {
    return this.#view.generation;
  }

  get offset(): number {
    return this.#view.offset;
  }

  get asOf(): number | undefined {
    return this.#view.asOf;
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    return this.#view.all(template);
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    return this.#view.wasArchived(contractId, registrar);
  }

  templateCounts(): readonly TemplateCount[] {
    return this.#view.templateCounts();
  }

  sums(names: readonly string[]): readonly bigint[] {
    return this.#view.sums(names);
  }
}

export interface RecordingContext extends CheckContext {
  readonly view: RecordingView;
}

export const recording = (context: CheckContext): RecordingContext => ({
  ...context,
  view: new RecordingView(context.view),
});

/** Why an operation fails, as warnings: it is run, and if it fails, each line of its context alone. */

const SEE = "or let a party whose contracts are read see it";
const WAIT = "Complete the reassignment, or wait until it has arrived";

/** What to do about each kind of warning. */
export const remedies: Readonly<Record<WarningKind, string>> = {
  "no-factory": `Create an AllocationFactory of the registrar, ${SEE}`,
  "no-configuration": `Create the InstrumentConfiguration, ${SEE}`,
  "no-rule": `Create a TransferRule of the registrar, ${SEE}`,
  "several-groups": "Archive the configurations that are not used, or have clients name their input holdings",
  "ambiguous-identifier": "Remove it from the additional identifiers",
  "configuration-in-reassignment": WAIT,
  "contract-in-reassignment": WAIT,
  "instruction-in-reassignment": WAIT,
  "no-common-synchronizer": "Reassign these contracts to one synchronizer",
  "blocklist-not-configured":
    "Add an entry for the blocklist, with `when: checkBlocklist`, to the file of OFFLEDGER_CONTEXTS",
  "contract-missing": `Create the contract, ${SEE}, or change the entry`,
  "holding-missing": "Reject, withdraw or cancel it: it can no longer be executed",
  "instruction-expired": "Reject, withdraw or cancel it",
  "credentials-missing": "Have the issuer issue the credential, unless the wallet adds one that is not stored here",
  "requirement-unmet":
    "Have the issuer issue such a credential, or correct the requirement, unless wallets add credentials that are not stored here",
  "credentials-split": "Have the issuer issue one credential with all of these claims",
  "credential-expires": "Have the issuer issue a new credential before then",
  "no-version-2": "Upgrade the AllocationFactory to serve version 2; version 1 is served as ever",
};

/** A reason why an operation fails. */
export interface Problem {
  /** The entry or disclosure that fails; undefined if each can be had, but not all on one synchronizer. */
  readonly line: string | undefined;
  /** The error of a refused request, or the one it would get. */
  readonly error: RegistryError;
  /** Undefined if the request is answered. */
  readonly refusal: RegistryErrorReason | undefined;
  /** A contract in reassignment among the candidates of the line. */
  readonly moving: Contract | undefined;
  /** What the problem depends on. */
  readonly scope: "registrar" | "instrument" | "inputs";
}

/** Answers a request with the given definition. Throws RegistryError as the operation does. */
export type Attempt = (definition: ContextDefinition, inputs: EntryInputs) => void;

/** Everything that makes an operation fail for these inputs. A line that fails alone is a problem of its own. */
export function findProblems(
  { answered, strict, lines }: OperationLines,
  view: RecordingView,
  inputs: EntryInputs,
  attempt: Attempt,
): readonly Problem[] {
  const errorOf = (definition: ContextDefinition, given: EntryInputs) => errorIn(() => attempt(definition, given));
  if (errorOf(strict, inputs) === undefined) return [];
  const problems: Problem[] = [];
  for (const line of lines) {
    view.takeMoving();
    const error = errorOf(line.strict, inputs);
    // Several lines read the configuration, and fail alike.
    if (error === undefined || problems.some((earlier) => earlier.error.message === error.message)) continue;
    const moving = view.takeMoving();
    const scope = scopeOf((given) => errorOf(line.strict, given) !== undefined, inputs);
    problems.push({ line: line.name, error, refusal: errorOf(line.answered, inputs)?.reason, moving, scope });
  }
  if (problems.length > 0) return problems;
  const error = errorOf(answered, inputs);
  if (error === undefined) return [];
  const scope = errorOf(answered, withoutParties(inputs)) === undefined ? "inputs" : "instrument";
  return [{ line: undefined, error, refusal: error.reason, moving: undefined, scope }];
}

function scopeOf(fails: (inputs: EntryInputs) => boolean, inputs: EntryInputs): Problem["scope"] {
  if (!fails(withoutParties(inputs))) return "inputs";
  return fails({ ...withoutParties(inputs), instruments: [] }) ? "registrar" : "instrument";
}

/** The inputs of any request about these instruments. */
const withoutParties = ({ instruments, provider, factory, subject }: EntryInputs): EntryInputs => ({
  instruments,
  provider,
  factory,
  subject,
});

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
