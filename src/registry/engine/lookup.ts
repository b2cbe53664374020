/** What operators look up in a registry file: its registrars, the choices on a contract, and a party's instructions. */
import type { Contract } from "../../domain/contract.js";
import { causesOf, errorIn } from "../../domain/errors.js";
import { isOf } from "../../domain/template.js";
import type { View } from "../../state/port.js";
import type {
  Choice,
  ChoiceCall,
  IssuanceChoice,
  PartySearch,
  RegistryLookup,
  ServedRegistrar,
} from "../sdk/registry.js";
import { answerOn, type CheckedChoice, type GroupOf } from "./operations.js";
import { allFactories, checkedChoices, type CompiledTable, groupOf } from "./table.js";
import { roleOf, type TableFields } from "./templates.js";

/** The choices on a contract; none if it is of no template of instructions. */
export const choicesOn = (choices: readonly CheckedChoice[], contract: Contract): readonly ChoiceCall[] =>
  choices
    .filter(({ strict }) => strict.templates.some((template) => isOf(contract.template, template)))
    // Only instructions have these templates.
    .map(({ operation }) => callOn(operation, contract as Contract<TableFields>));

const callOn = (choice: Choice | IssuanceChoice, { contractId, fields }: Contract<TableFields>): ChoiceCall => ({
  choice,
  query: { registrar: fields.registrar, contractId },
});

/** Instructions in which a party has a role: a search for each template. The first choice on them completes them. */
export function instructionSearches(
  choices: readonly CheckedChoice[],
  groupOfInstruction: GroupOf,
): readonly PartySearch<TableFields>[] {
  const templates = new Set(choices.flatMap(({ strict }) => strict.templates));
  return [...templates].map((template) => {
    const completion = choices.find(({ strict }) => strict.templates.includes(template));
    return {
      template,
      find: (context, contracts, party) => ({
        instructions: contracts
          .filter(({ fields }) => concerns(fields, party))
          .map((contract) => {
            const { registrar = "", instruments, roles } = contract.fields;
            const error =
              completion && errorIn(() => answerOn(context, completion.strict, contract, groupOfInstruction(contract)));
            return {
              contract,
              registrar,
              instruments: [...new Set(instruments)],
              sender: roleOf({ roles }, "sender"),
              receiver: roleOf({ roles }, "receiver"),
              causes: error === undefined ? [] : causesOf(error),
              completion: completion && callOn(completion.operation, contract),
            };
          }),
      }),
    };
  });
}

/** The parties of the registry have a part in every instruction. */
const concerns = ({ roles }: TableFields, party: string): boolean =>
  Object.entries(roles).some(
    ([role, parties]) => role !== "operator" && role !== "provider" && parties.includes(party),
  );

/** `AllocationFactory` of `Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory`. */
export const entityOf = ({ template: { qualifiedName } }: Contract): string =>
  qualifiedName.split(":")[1] ?? qualifiedName;

/** `idsOf` are the instruments of a registrar that are not listed by contracts. */
export function tableLookup(
  table: CompiledTable,
  idsOf: (view: View, registrar: string) => readonly string[],
): RegistryLookup {
  const choices = checkedChoices(table);
  return {
    registrars: (view) => registrars(table, view, idsOf),
    partySearches: instructionSearches(choices, ({ fields }) => groupOf(fields.registrar ?? "")),
    choices: (contract) => choicesOn(choices, contract),
    packageVersion: () => undefined,
  };
}

function registrars(
  table: CompiledTable,
  view: View,
  idsOf: (view: View, registrar: string) => readonly string[],
): ServedRegistrar[] {
  const { instruments: listed } = table.table.file;
  const listing =
    typeof listed === "object" && !Array.isArray(listed) ? table.templates.get(listed.template) : undefined;
  const factories = allFactories(table, view);
  const lists = listing === undefined ? [] : view.all(listing);
  const parties = [...new Set(factories.flatMap(({ fields }) => fields.registrar ?? []))].toSorted();
  return parties.map((party): ServedRegistrar => {
    const mine = factories.filter(({ fields }) => fields.registrar === party);
    const [factory] = mine;
    const byId = new Map<string, Contract>(factory && idsOf(view, party).map((id) => [id, factory] as const));
    // Newest first: the newest of several stays.
    for (const contract of lists.toReversed())
      if (contract.fields.registrar === party)
        for (const { id } of contract.fields.listed ?? []) byId.set(id, contract);
    return {
      party,
      instruments: [...byId]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, configuration]) => ({ id, configuration })),
      services: mine.map((contract) => ({ name: entityOf(contract), contract })),
    };
  });
}
