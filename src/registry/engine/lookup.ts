/** What operators look up in a registry file: its registrars, the choices on a contract, and a party's instructions. */
import type { Contract } from "../../domain/contract.js";
import type { Cause } from "../../domain/cause.js";
import { causesOf, errorIn } from "../../domain/errors.js";
import type { View } from "../../store/port.js";
import type { Choice, ChoiceCall, PartySearch, RegistryLookup, ServedRegistrar } from "../sdk/registry.js";
import { type Found, type Table, templateOf } from "./candidates.js";
import { type ChoiceAnswer, choicesOf } from "./checks.js";
import type { TableFields } from "./templates.js";

/** `idsOf` are the instruments of a registrar that are not listed by contracts. */
export function tableLookup(
  table: Table,
  answerChoice: ChoiceAnswer,
  idsOf: (registrar: string) => readonly string[],
): RegistryLookup {
  const choices = new Map(
    Object.entries(table.file.templates).flatMap(([name, { choices: kind }]) => {
      const template = table.templates.get(name);
      return template === undefined || kind === undefined ? [] : [[template, choicesOf(kind)] as const];
    }),
  );
  const callsOn = (contract: Found): ChoiceCall[] =>
    (choices.get(contract.template) ?? []).map((choice) => callOn(contract, choice));
  return {
    registrars: (view) => registrars(table, view, idsOf),
    partySearches: [...choices].map(([template, [completion]]) => search(template, completion, answerChoice)),
    // Only contracts of the templates of this table have choices.
    choices: (contract) => callsOn(contract as Found),
    packageVersion: () => undefined,
  };
}

const callOn = ({ contractId, fields }: Found, choice: Choice): ChoiceCall => ({
  choice,
  query: { registrar: fields.registrar, contractId },
});

function registrars(table: Table, view: View, idsOf: (registrar: string) => readonly string[]): ServedRegistrar[] {
  const { factory: ofFactory, instruments: listed } = table.file;
  const factories = view.all(templateOf(table, ofFactory));
  const listing = typeof listed === "object" && !Array.isArray(listed) ? view.all(templateOf(table, listed)) : [];
  const parties = [...new Set(factories.flatMap(({ fields }) => fields.registrar ?? []))].toSorted();
  return parties.map((party): ServedRegistrar => {
    const mine = factories.filter(({ fields }) => fields.registrar === party);
    const [factory] = mine;
    const byId = new Map<string, Contract>(
      factory === undefined ? [] : idsOf(party).map((id) => [id, factory] as const),
    );
    // Newest first: the newest of several stays.
    for (const contract of listing.toReversed())
      if (contract.fields.registrar === party) for (const { id } of contract.fields.listed) byId.set(id, contract);
    return {
      party,
      instruments: [...byId]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, configuration]) => ({
          id,
          otherIds: [],
          paused: false,
          checksBlocklist: false,
          holderRequirements: [],
          issuerRequirements: [],
          configuration,
        })),
      services: mine.map((contract) => ({
        name: contract.template.qualifiedName.split(":")[1] ?? contract.template.qualifiedName,
        contract,
      })),
    };
  });
}

/** The instructions in which a party has a role. The first choice on them is the one that completes them. */
const search = (
  template: Found["template"],
  completion: Choice | undefined,
  answerChoice: ChoiceAnswer,
): PartySearch<TableFields> => ({
  template,
  find: (context, contracts, party) => ({
    instructions: contracts
      .filter(({ fields }) => Object.values(fields.roles).some((parties) => parties.includes(party)))
      .map((contract) => {
        const { registrar = "", instruments, roles } = contract.fields;
        return {
          contract,
          registrar,
          instruments,
          sender: roles["sender"]?.[0],
          receiver: roles["receiver"]?.[0],
          causes: completion === undefined ? [] : lacking(() => void answerChoice(context, completion, contract)),
          completion: completion === undefined ? undefined : callOn(contract, completion),
        };
      }),
  }),
});

function lacking(attempt: () => void): readonly Cause[] {
  const error = errorIn(attempt);
  return error === undefined ? [] : causesOf(error);
}
