/** What will fail for the contracts of a registry file: what its operations lack, and choices on pending instructions. */
import type { Contract } from "../../domain/contract.js";
import { causesOf, errorIn, type RegistryError } from "../../domain/errors.js";
import { neededContract, onOneSynchronizer } from "../needed.js";
import type { Check, Choice, ContextAnswer, RequestContext, Warning, WarningKind } from "../sdk/registry.js";
import { TableAnswer } from "./answer.js";
import { candidatesOf, type Table, templateOf } from "./candidates.js";
import { type Line, type Operation, OPERATIONS } from "./definition.js";
import type { Subject } from "./subject.js";
import type { TableFields } from "./templates.js";

/** The context of a choice on a contract. */
export type ChoiceAnswer = (context: RequestContext, choice: Choice, contract: Contract<TableFields>) => ContextAnswer;

export function tableChecks(table: Table, answerChoice: ChoiceAnswer): readonly Check[] {
  const { file, templates } = table;
  const ofInstructions = Object.entries(file.templates).flatMap(([name, { choices }]) => {
    const template = templates.get(name);
    return template === undefined || choices === undefined ? [] : [checkInstructions(template, choices, answerChoice)];
  });
  return [checkRegistrars(table), ...ofInstructions] as readonly Check[];
}

/** The entries that every request of a registrar has, whoever asks: missing where no factory of it has them beside it. */
function checkRegistrars(table: Table): Check<TableFields> {
  const needed = commonEntries(table);
  const { template } = table.file.factory;
  return {
    template: templateOf(table, table.file.factory),
    warnings: (context, factories) =>
      factories.flatMap((factory) => {
        const { registrar = "" } = factory.fields;
        const all = candidatesOf(table, context, { template }, registrar, []);
        // Once for each registrar.
        if (all[0]?.contractId !== factory.contractId) return [];
        const failure = (attempt: (synchronizer: string) => void) =>
          errorIn(() =>
            onOneSynchronizer(
              all,
              () => neededContract(`the factory of registrar ${registrar}`, { registrar }),
              undefined,
              (_factory, synchronizer) => attempt(synchronizer),
            ),
          );
        const moving = failure(() => undefined);
        if (moving !== undefined) return [{ ...about(moving), registrar, operations: FACTORIES }];
        return [...needed].flatMap(([entry, operations]): Warning[] => {
          const error = failure((synchronizer) => {
            const problem = new TableAnswer(table, context, anyRequest(registrar), synchronizer).problemOf(entry);
            if (problem !== undefined) throw problem;
          });
          return error === undefined ? [] : [{ ...about(error), registrar, operations }];
        });
      }),
  };
}

const FACTORIES = OPERATIONS.filter((operation) => operation.endsWith("-factory"));

/** The entries that are found by the registrar alone and written without a condition, each with its operations. */
function commonEntries({ file: { entries = {}, operations = {} } }: Table): ReadonlyMap<string, readonly Operation[]> {
  const linesOf = (operation: Operation | "*"): readonly Line[] =>
    (operations[operation] ?? []).flatMap((line) =>
      line.include === undefined ? [line] : linesOf(line.include as Operation),
    );
  const found = new Map<string, Operation[]>();
  for (const operation of OPERATIONS)
    for (const line of [...linesOf("*"), ...linesOf(operation)]) {
      const name = line.entry ?? line.disclosure ?? line.require;
      if (name === undefined || line.if !== undefined || line.unless !== undefined) continue;
      const { find = {}, byId } = entries[name] ?? {};
      if (byId !== undefined || Object.values(find).some((term) => term !== "registrar")) continue;
      found.set(name, [...new Set([...(found.get(name) ?? []), operation])]);
    }
  return found;
}

const anyRequest = (registrar: string): Subject => ({
  registrar,
  roles: {},
  accounts: {},
  refs: {},
  hasOwnRefs: true,
  instruments: [],
  isSelf: false,
});

/** The choices on instructions of a kind, the one that completes them first. */
export const choicesOf = (kind: string): readonly (Choice & Operation)[] =>
  OPERATIONS.filter((operation): operation is Choice & Operation => operation.startsWith(`${kind}/`));

function checkInstructions(
  template: Check<TableFields>["template"],
  instructions: string,
  answerChoice: ChoiceAnswer,
): Check<TableFields> {
  const choices = choicesOf(instructions);
  const label = instructions.replaceAll("-", " ");
  return {
    template,
    warnings: (context, contracts) =>
      contracts.flatMap((contract) =>
        choices.flatMap((choice): Warning[] => {
          const error = errorIn(() => answerChoice(context, choice, contract));
          if (error === undefined) return [];
          const { contractId, synchronizerId, fields } = contract;
          const found = about(error);
          const kind: WarningKind = synchronizerId === undefined ? "instruction-in-reassignment" : found.kind;
          return [
            {
              ...found,
              kind,
              problem: `${label} ${contractId}: ${found.problem}`,
              registrar: fields.registrar ?? "",
              instrument: fields.instruments[0],
              contractId,
              operations: [choice],
            },
          ];
        }),
      ),
  };
}

function about(error: RegistryError): Pick<Warning, "kind" | "refusal" | "problem" | "remedy"> {
  const kind = kindOf(error);
  const remedy = error.reason === "unavailable" ? UNREADABLE : REMEDIES[kind];
  return { kind, refusal: error.reason, problem: error.message, remedy };
}

type Kind = Extract<WarningKind, "contract-missing" | "contract-in-reassignment" | "no-common-synchronizer">;

function kindOf(error: RegistryError): Kind {
  if (error.reason === "not-found" || error.reason === "unavailable") return "contract-missing";
  const isMoving = causesOf(error).some(({ code }) => code === "contract-moving");
  return isMoving ? "contract-in-reassignment" : "no-common-synchronizer";
}

const UNREADABLE = "Install a release, or correct the registry file, that can read the contract";
const REMEDIES: Readonly<Record<Kind, string>> = {
  "contract-missing": "Create the contract, or let a party whose contracts are read see it",
  "contract-in-reassignment": "Complete the reassignment, or wait until it has arrived",
  "no-common-synchronizer": "Reassign the contracts to one synchronizer",
};
