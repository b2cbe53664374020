/** What the console and `offledger explain` look for: registrars, and what concerns a party. */
import type { Cause } from "../../domain/cause.js";
import type { Contract } from "../../domain/contract.js";
import { causesOf, RegistryError } from "../../domain/errors.js";
import type { Template } from "../../domain/template.js";
import type { View } from "../../store/port.js";
import type {
  ChoiceCall,
  InstrumentConfiguration,
  PartySearch,
  RegistryLookup,
  RequestContext,
  ServedInstrument,
  ServedRegistrar,
} from "../sdk/registry.js";
import { contextOn, instructionInputs } from "./choice.js";
import type { UtilityContexts } from "./contexts/contexts.js";
import { type ChoiceOperation, isExit } from "./contexts/definition.js";
import { groupOfInstruction } from "./group.js";
import { type Instruction, instrumentsOf } from "./instructions.js";
import { type LinesByOperation, linesByOperation, type OperationLines } from "./inventory/operations.js";
import { requireSynchronizer } from "../needed.js";
import {
  allocationFactory,
  claimsOn,
  type Credential,
  credential,
  instrumentConfiguration,
  registrarService,
  type TransferPreapproval,
  transferPreapproval,
  transferRule,
} from "./templates.js";

/** The templates of contracts that serve all instruments of a registrar. */
const services = [allocationFactory, registrarService, transferRule];

/** The parties with instruments or services, also those without a factory, which nobody can use. */
export function registrars(view: View): ServedRegistrar[] {
  const byParty = new Map<string, { configurations: Contract<InstrumentConfiguration>[]; services: Contract[] }>();
  const ofParty = (party: string) => {
    const known = byParty.get(party) ?? { configurations: [], services: [] };
    byParty.set(party, known);
    return known;
  };
  for (const contract of view.all(instrumentConfiguration))
    ofParty(contract.fields.registrar).configurations.push(contract);
  for (const template of services)
    for (const contract of view.all<{ readonly registrar: string }>(template))
      ofParty(contract.fields.registrar).services.push(contract);
  return [...byParty]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([party, found]) => ({
      party,
      instruments: servedInstruments(found.configurations),
      services: found.services.map((contract) => ({ name: entityOf(contract), contract })),
    }));
}

/** `AllocationFactory` of `Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory`. */
const entityOf = ({ template }: Contract): string => template.qualifiedName.split(":")[1] ?? template.qualifiedName;

/** The newest configuration of each instrument. They come newest first. */
function servedInstruments(configurations: readonly Contract<InstrumentConfiguration>[]): ServedInstrument[] {
  const byId = new Map<string, Contract<InstrumentConfiguration>>();
  for (const configuration of configurations) {
    const { id } = configuration.fields.defaultIdentifier;
    if (!byId.has(id)) byId.set(id, configuration);
  }
  return [...byId]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, configuration]) => {
      const { additionalIdentifiers, paused, checkBlocklist, holderRequirements, issuerRequirements } =
        configuration.fields;
      return {
        id,
        otherIds: [...new Set(additionalIdentifiers.map((other) => other.id))].filter((other) => !byId.has(other)),
        paused,
        checksBlocklist: checkBlocklist,
        holderRequirements,
        issuerRequirements,
        configuration,
      };
    });
}

/** Instructions of which a party is sender, receiver or holder: a search for each template. */
function findInstructions(contexts: UtilityContexts, lines: LinesByOperation): readonly PartySearch<Instruction>[] {
  const templates = new Set(Object.values(contexts.choices).flatMap((definition) => definition.templates));
  return [...templates].map((template) => findOfTemplate(template, contexts, lines));
}

function findOfTemplate(
  template: Template<Instruction>,
  contexts: UtilityContexts,
  { choices }: LinesByOperation,
): PartySearch<Instruction> {
  const operation = completionOn(contexts, template);
  const completion = operation === undefined ? undefined : choices.get(operation);
  const label = operation === undefined ? "instruction" : contexts.choices[operation].label;
  return {
    template,
    find(context, contracts, party) {
      const concerned = contracts.filter(({ fields }) => concerns(fields, party));
      const instructions = concerned.map((contract) => {
        const { admin: registrar, sender, receiver } = contract.fields;
        const causes = completion === undefined ? [] : lacking(context, label, completion, contract);
        const call = operation === undefined ? undefined : choiceCall(operation, contract);
        const instruments = instrumentsOf(contract.fields);
        return { contract, registrar, instruments, sender, receiver, causes, completion: call };
      });
      return { instructions };
    },
  };
}

const concerns = ({ sender, receiver, issuers }: Instruction, party: string): boolean =>
  sender === party || receiver === party || issuers?.includes(party) === true;

/** Runs the operation with every credential required, as the choice on the ledger requires them. */
function lacking(
  context: RequestContext,
  label: string,
  { strict }: OperationLines<ChoiceOperation>,
  instruction: Contract<Instruction>,
): readonly Cause[] {
  const { admin } = instruction.fields;
  try {
    const needed = { name: `the ${label}`, kind: "instruction", registrar: admin };
    const synchronizer = requireSynchronizer(instruction, needed);
    contextOn(context, strict, groupOfInstruction(instruction.fields), synchronizer, instructionInputs(instruction));
    return [];
  } catch (error) {
    if (error instanceof RegistryError) return causesOf(error);
    throw error;
  }
}

/** Credentials with claims on a party, whether they are valid now or not. */
const findCredentials: PartySearch<Credential> = {
  template: credential,
  find: (_context, contracts, party) => ({
    credentials: contracts.flatMap((contract) => {
      const { fields } = contract;
      const claims = claimsOn(fields, party);
      if (claims.length === 0) return [];
      const { issuer, holder, validFrom, validUntil } = fields;
      return [{ contract, issuer, holder, claims, validFrom, validUntil }];
    }),
  }),
};

/** Preapprovals of a party as the receiver. */
const findPreapprovals: PartySearch<TransferPreapproval> = {
  template: transferPreapproval,
  find: (_context, contracts, party) => ({
    preapprovals: contracts
      .filter(({ fields }) => fields.receiver === party)
      .map((contract) => ({
        contract,
        registrar: contract.fields.instrumentAdmin,
        instruments: contract.fields.instrumentAllowances,
      })),
  }),
};

/** The operations on the instructions of a template; none for another template. */
const operationsOn = ({ choices }: UtilityContexts, template: Template): readonly ChoiceOperation[] =>
  // The record has exactly the names of its type.
  (Object.keys(choices) as ChoiceOperation[]).filter((name) =>
    choices[name].templates.some((known) => known === template),
  );

/** The operation whose choice completes the instructions of a template, as accept does. */
const completionOn = (contexts: UtilityContexts, template: Template): ChoiceOperation | undefined =>
  operationsOn(contexts, template).find((operation) => !isExit(operation));

function choicesOn(contexts: UtilityContexts, contract: Contract): readonly ChoiceCall[] {
  // Only templates of instructions have operations.
  return operationsOn(contexts, contract.template).map((choice) =>
    choiceCall(choice, contract as Contract<Instruction>),
  );
}

export const choiceCall = (choice: ChoiceOperation, { contractId, fields }: Contract<Instruction>): ChoiceCall => ({
  choice,
  query: { registrar: fields.admin, contractId },
});

/** What operators look up in the Registry Utility. */

export function createLookup(contexts: UtilityContexts): RegistryLookup {
  return {
    registrars,
    partySearches: [findCredentials, findPreapprovals, ...findInstructions(contexts, linesByOperation(contexts))],
    choices: (contract) => choicesOn(contexts, contract),
    packageVersion: (packageId) => contexts.packageVersions.versionOf(packageId),
  };
}
