/** What will fail for the contracts of a registry file: what its operations lack, and choices on pending instructions. */
import type { Check, Warning } from "../sdk/registry.js";
import { neededContract, onOneSynchronizer } from "../needed.js";
import { writeContext } from "./answer.js";
import { type Operation, OPERATIONS } from "./definition.js";
import { checkInstruction, problemsOf, toWarning } from "./problems.js";
import { allOf } from "./entries.js";
import { groupOf, linesOf, type Table, tableSelector } from "./table.js";
import type { TableFields } from "./templates.js";

export function tableChecks(table: Table): readonly Check<TableFields>[] {
  const kinds = new Set([...table.choices.values()].flatMap(({ templates }) => templates));
  return [
    checkRegistrars(table),
    ...[...kinds].map((template): Check<TableFields> => ({
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

const FACTORIES = OPERATIONS.filter((operation) => operation.endsWith("-factory"));

/** The entries that every request of a registrar has, whoever asks: missing where no factory of it has them beside it. */
const checkRegistrars = (table: Table): Check<TableFields> => ({
  template: table.factoryTemplate,
  warnings: (context, factories) =>
    factories.flatMap((factory): Warning[] => {
      const { registrar = "" } = factory.fields;
      const all = allOf(table.factoryTemplate, context.view, registrar);
      // Once for each registrar.
      if (all[0]?.contractId !== factory.contractId) return [];
      const subject = { registrar, instrument: undefined };
      const needed = () => neededContract(`the factory of registrar ${registrar}`, { registrar });
      const attempt = (operation: Operation) => () =>
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
function commonLines({ file, contexts }: Table, operation: Operation) {
  const definition = contexts.get(operation);
  const all = [...linesOf(file, "*"), ...linesOf(file, operation)];
  const lines = (definition?.lines ?? []).filter((_line, index) => {
    const { line, outer } = all[index] ?? {};
    const entry = file.entries?.[line?.entry ?? line?.disclosure ?? line?.require ?? ""];
    const isConditional = line?.if !== undefined || line?.unless !== undefined || outer !== undefined;
    const isCommon =
      entry?.byId === undefined && Object.values(entry?.find ?? {}).every((term) => term === "registrar");
    return entry !== undefined && isCommon && !isConditional;
  });
  return { selector: tableSelector, lines };
}
