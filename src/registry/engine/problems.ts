/** Why an operation fails, as warnings. */
import type { Contract } from "../../domain/contract.js";
import { type Cause, causesOf, errorIn, type RegistryErrorReason } from "../../domain/errors.js";
import { inReassignment, neededContract, onOneSynchronizer } from "../needed.js";
import type { Check, CheckContext, Warning, WarningKind } from "../sdk/registry.js";
import { type ContextDefinition, writeContext } from "./answer.js";
import { FACTORIES, type Factory, isExit, type Operation } from "../operation-names.js";
import type { TableLine } from "./table-types.js";
import { allOf } from "./entries.js";
import { answerOn, type ChoiceDefinition } from "./operations.js";
import type { ContractSelector, Group } from "./selector.js";
import { type CompiledTable, compileRow, groupOf, tableSelector } from "./table.js";
import type { TableFields } from "./templates.js";

const SEE = "or let a party whose contracts are read see it";
const WAIT = "Complete the reassignment, or wait until it has arrived";

/** What to do about each kind of warning. */
export const remedies: Readonly<Record<WarningKind, string>> = {
  "no-registrar":
    "Check that the contracts come from the registry's participant, which may have been replaced, and that it hosts the parties",
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
    "Remove the line no-blocklist in the file of OFFLEDGER_CONTEXTS, and add an entry for the blocklist with `if: check-blocklist`",
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
const UNREADABLE = "Install a release, or correct the registry file, that can read the contract";

/** A cause for which an operation fails. */
export interface Problem {
  readonly cause: Cause;
  /** Undefined if the request is answered, but the choice fails on the ledger. */
  readonly refusal: RegistryErrorReason | undefined;
}

/** Why an operation fails: `strictly` as the choice on the ledger needs it, `answered` as the service answers it. */
export function problemsOf(answered: () => unknown, strictly: () => unknown = answered): readonly Problem[] {
  const [failed, refused] = [errorIn(strictly), errorIn(answered)];
  const refusals = refused === undefined ? [] : causesOf(refused);
  const causes = new Map(
    (failed === undefined ? [] : causesOf(failed)).concat(refusals).map((one) => [one.message, one]),
  );
  const isRefused = ({ message }: Cause) => refusals.some((one) => one.message === message);
  return [...causes.values()].map((cause) => ({ cause, refusal: isRefused(cause) ? reasonOf(cause) : undefined }));
}

function reasonOf({ code }: Cause): RegistryErrorReason {
  if (code === "contract-unreadable") return "unavailable";
  if (code === "blocklist-not-configured") return "invalid";
  return code.endsWith("-moving") || code === "no-common-synchronizer" || code === "conflict"
    ? "conflict"
    : "not-found";
}

const kinds: ReadonlyMap<string, WarningKind> = new Map([
  ["registrar-not-served", "no-factory"],
  ["factory-missing", "no-factory"],
  ["configuration-missing", "no-configuration"],
  ["rule-missing", "no-rule"],
  ["holding-missing", "holding-missing"],
  ["credential-missing", "credentials-missing"],
  ["blocklist-not-configured", "blocklist-not-configured"],
  ["no-common-synchronizer", "no-common-synchronizer"],
  ["conflict", "no-common-synchronizer"],
  ["configuration-moving", "configuration-in-reassignment"],
]);

function kindOf({ code }: Cause): WarningKind {
  return kinds.get(code) ?? (code.endsWith("-moving") ? "contract-in-reassignment" : "contract-missing");
}

/** What an operation was attempted on. */
export interface Subject {
  readonly registrar: string;
  readonly instrument: string | undefined;
  /** The pending instruction, and what messages call it; undefined for a factory. */
  readonly instruction?: { readonly contractId: string; readonly label: string } | undefined;
}

export function toWarning({ cause, refusal }: Problem, subject: Subject, operation: string): Warning {
  const { registrar, instrument, instruction } = subject;
  const { code, party, contractId } = cause;
  const kind = kindOf(cause);
  // Others are so for every request of the registrar, or about the instrument.
  const isOfRequest =
    party !== undefined ||
    code.startsWith("holding-") ||
    (instruction !== undefined && contractId === instruction.contractId) ||
    (contractId !== undefined && (code.endsWith("-missing") || code === "contract-unreadable"));
  const isOfRegistrar = !isOfRequest && cause.instrument === undefined;
  const about = isOfRequest ? instruction : undefined;
  return {
    kind,
    registrar,
    instrument: isOfRegistrar ? undefined : instrument,
    contractId: about?.contractId ?? (code.endsWith("-moving") ? contractId : undefined),
    party: kind === "credentials-missing" ? party : undefined,
    operations: [operation],
    refusal,
    problem: `${about === undefined ? "" : `${about.label} ${about.contractId}: `}${cause.message}`,
    remedy: code === "contract-unreadable" ? UNREADABLE : remedies[kind],
  };
}

/** A choice as the service answers it, and as the ledger needs it. */
export interface CheckedChoice<S extends ContractSelector = ContractSelector> {
  readonly operation: string;
  readonly answered: ChoiceDefinition<S>;
  readonly strict: ChoiceDefinition<S>;
}

/** Why choices on a pending instruction fail. `alsoCompletedBy`: an operation that takes the instruction too. */
export function checkInstruction<S extends ContractSelector>(
  context: CheckContext,
  instruction: Contract<TableFields>,
  choices: readonly CheckedChoice<S>[],
  group: Group,
  alsoCompletedBy: readonly string[] = [],
): readonly Warning[] {
  const { contractId, synchronizerId, fields } = instruction;
  const [first] = choices;
  const label = first?.answered.label ?? "instruction";
  const subject = { registrar: group.registrar, instrument: fields.instruments[0], instruction: { contractId, label } };
  const { instruction: _instruction, ...about } = { ...subject, contractId };
  const all = choices.map(({ operation }) => operation);
  if (synchronizerId === undefined) {
    const { message: problem } = inReassignment(instruction, { name: `the ${label}`, kind: "instruction" });
    const [kind, operations] = ["instruction-in-reassignment", [...all, ...alsoCompletedBy]] as const;
    return [{ ...about, kind, operations, refusal: "conflict", problem, remedy: remedies[kind] }];
  }
  const warnings = choices.flatMap(({ operation, answered, strict }) =>
    problemsOf(
      () => answerOn(context, answered, instruction, group),
      () => answerOn(context, strict, instruction, group),
    ).map((problem) => toWarning(problem, subject, operation)),
  );
  if (!hasEnded(context, instruction)) return warnings;
  const [kind, operations] = [
    "instruction-expired",
    [...all.filter((one) => !isExit(one)), ...alsoCompletedBy],
  ] as const;
  const deadline = new Date(Math.floor((fields.deadline ?? 0) / 1_000)).toISOString();
  const problem = `${label} ${contractId}: its deadline, ${deadline}, has passed`;
  // The ledger refuses an expired one, whatever else it lacks.
  const refused = warnings.filter(({ refusal }) => refusal !== undefined);
  return [{ ...about, kind, operations, problem, remedy: remedies[kind] }, ...refused];
}

/** Whether it can no longer be accepted or executed. */
export const hasEnded = ({ now }: CheckContext, { fields: { deadline } }: Contract<TableFields>): boolean =>
  deadline !== undefined && deadline <= now * 1_000;

/** What will fail for the contracts of a registry file: what its operations lack, and choices on pending instructions. */
export function tableChecks(table: CompiledTable): readonly Check<TableFields>[] {
  const instructions = new Set([...table.choices.values()].flatMap(({ templates }) => templates));
  return [
    checkRegistrars(table),
    ...[...instructions].map((template): Check<TableFields> => ({
      template,
      warnings(context, contracts) {
        const choices = [...table.choices]
          .filter(([, { templates }]) => templates.includes(template))
          .map(([operation, answered]) => ({ operation, answered, strict: answered }));
        return contracts.flatMap((contract) =>
          checkInstruction(context, contract, choices, groupOf(contract.fields.registrar ?? "")),
        );
      },
    })),
  ];
}

/** The entries that every request of a registrar has, whoever asks: missing where no factory of it has them beside it. */
const checkRegistrars = (table: CompiledTable): Check<TableFields> => ({
  template: table.factoryTemplate,
  warnings: (context, factories) =>
    factories.flatMap((factory): Warning[] => {
      const { registrar = "" } = factory.fields;
      const all = allOf(table.factoryTemplate, context.view, registrar);
      // Once for each registrar.
      if (all[0]?.contractId !== factory.contractId) return [];
      const subject = { registrar, instrument: undefined };
      const needed = () => neededContract(`the factory of registrar ${registrar}`, { registrar });
      const attempt = (operation: Factory) => () =>
        onOneSynchronizer(all, needed, undefined, (_factory, synchronizer) =>
          writeContext(context, commonLines(table, operation), groupOf(registrar), synchronizer, {
            instruments: [],
            roles: {},
          }),
        );
      return FACTORIES.flatMap((operation) =>
        problemsOf(attempt(operation)).map((problem) => toWarning(problem, subject, operation)),
      );
    }),
});

/** The lines whose entries are found by the registrar alone, and that are written without a condition. */
function commonLines({ table: { rows, entries }, parts }: CompiledTable, operation: Factory): ContextDefinition {
  const isCommon = ({ kind, name, if: only, unless }: TableLine) => {
    const entry = entries[name];
    if (entry === undefined || only.length + unless.length > 0 || kind === "exists" || kind === "archived")
      return false;
    return entry.byId === undefined && Object.values(entry.find ?? {}).every((term) => term === "registrar");
  };
  const name: Operation = operation === "transfer-factory" ? "transfer-factory/offer" : operation;
  const { lines = [], missing = "refuse" } = rows[name] ?? {};
  return compileRow({ lines: lines.filter(isCommon), missing }, parts, tableSelector);
}
