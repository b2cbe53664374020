/** What the state of the Registry Utility suggests to run: operations on an instrument, and on pending instructions. */
import type { Contract } from "../../domain/contract.js";
import { errorIn } from "../../domain/errors.js";
import type { Template } from "../../domain/template.js";
import { findProblems, type Run } from "../check/runs.js";
import { type RequestSubject, strictly, subjectOf, writeContext } from "../engine/choice-context.js";
import { checkInstruction } from "../engine/lookup.js";
import type { Group } from "../engine/selector.js";
import type { TableFields } from "../engine/templates.js";
import type { Check, CheckContext, FactoryResult, InstrumentIdentifier, Warning } from "../sdk/registry.js";
import {
  answerInGroup,
  candidateConfigurations,
  findFactories,
  findGroupFactories,
  groupOf,
  requireFactories,
} from "./factory.js";
import { findConfiguration } from "./instruments.js";
import { isUsual, type UtilityContexts, type UtilityOperation } from "./contexts.js";
import { directTransferReach } from "./transfer.js";

const SETTLEMENT = "settlement-factory";

/** Answers an operation with a factory of the group. A settlement is of version 2 of the token standard. */
export const attempt = (
  context: CheckContext,
  { packageVersions }: UtilityContexts,
  group: Group,
  definition: UtilityOperation,
  subject: RequestSubject,
): FactoryResult => {
  const { registrar } = group;
  const { instruments } = subject;
  const version2 = definition.operation === SETTLEMENT ? packageVersions : undefined;
  return answerInGroup(context, { registrar, instruments, groupNamed: () => group, version2 }, definition, subject);
};

/** Why operations on an instrument of a group fail, whoever asks. */
export function checkInstrument(
  context: CheckContext,
  contexts: UtilityContexts,
  group: Group,
  identifier: InstrumentIdentifier | string,
): readonly Warning[] {
  const { registrar } = group;
  const instrument = typeof identifier === "string" ? identifier : identifier.id;
  // The parties are not known.
  const subject = { instruments: [instrument], roles: {} };
  const write = (definition: UtilityOperation, synchronizer: string) =>
    writeContext(context, definition, group, synchronizer, subject);
  const direct = directTransfers(context, group, instrument);
  const offer = contexts.factories["transfer-factory/offer"];
  const answer = (one: UtilityOperation) => attempt(context, contexts, group, one, subject);
  const factories = Object.values(contexts.factories).map((one): Run => ({
    operation: one.operation,
    answered() {
      if (one.operation !== "transfer-factory/direct") return answer(one);
      // Without a preapproval that counts, the transfer is an offer.
      if (direct.length === 0) return answer(offer);
      findGroupFactories(context, { registrar, instruments: [instrument], groupNamed: () => group });
      return direct.map((synchronizer) => write(one, synchronizer));
    },
  }));
  let factoryId: string | undefined;
  const refused = errorIn(() => ({ factoryId } = answer(offer)));
  const created = findFactories(context.view, registrar).find((one) => one.contractId === factoryId)?.synchronizerId;
  // Those on an instruction that is created now. What prevents that is told by the factories.
  const choices = (refused === undefined ? Object.values(contexts.choices).filter(isUsual) : []).map((one): Run => ({
    operation: one.operation,
    answered: () => created && write(one, created),
  }));
  const lookUps: Run[] = [{ operation: "metadata", answered: () => requireFactories(context.view, registrar) }];
  if (typeof identifier !== "string")
    lookUps.push({
      operation: "instrument-configuration",
      answered: () => findConfiguration(context, { registrar, identifier }),
    });
  return findProblems([...factories, ...choices, ...lookUps], { registrar, instrument });
}

/** The synchronizers on which a preapproval would make a transfer direct. */
function directTransfers({ view }: CheckContext, group: Group, instrument: string): readonly string[] {
  const isReachable = directTransferReach(view, group, instrument);
  const all = candidateConfigurations(view, group.registrar, instrument);
  return [...new Set(all.flatMap(({ synchronizerId }) => synchronizerId ?? []).filter(isReachable))];
}

/** Pending instructions on which a choice fails. */
export function checkInstructions(template: Template<TableFields>, contexts: UtilityContexts): Check<TableFields> {
  const choices = Object.values(contexts.choices).filter(({ templates }) => templates.includes(template));
  const settles = contexts.allocationTemplates.includes(template);
  return {
    template,
    warnings: (context, instructions) =>
      instructions.flatMap((instruction) => [
        ...checkUnknownInstrument(context, contexts, instruction),
        ...checkInstruction(
          context,
          instruction,
          choices,
          groupOf(instruction),
          settles ? settlementOf(context, contexts, instruction) : [],
        ),
      ]),
  };
}

/** The check of instruments does not know an instrument without a configuration. */
function checkUnknownInstrument(
  context: CheckContext,
  contexts: UtilityContexts,
  instruction: Contract<TableFields>,
): readonly Warning[] {
  const { view } = context;
  const { registrar = "", instruments } = instruction.fields;
  const [instrument = ""] = instruments;
  if (candidateConfigurations(view, registrar, instrument).length > 0) return [];
  // A request for it is answered by the group of the newest factory.
  const [newest] = findFactories(view, registrar);
  return checkInstrument(context, contexts, groupOf(newest ?? instruction), instrument);
}

/** Settles an allocation by the settlement factory, in a batch of its own leg. */
function settlementOf(
  context: CheckContext,
  contexts: UtilityContexts,
  allocation: Contract<TableFields>,
): readonly Run[] {
  const settlement = contexts.factories[SETTLEMENT];
  const { instruments, roles } = subjectOf(allocation);
  const [instrument = ""] = instruments;
  const named = groupOf(allocation);
  const [newest] = candidateConfigurations(context.view, named.registrar, instrument);
  const isNamed = named.operator !== undefined && named.provider !== undefined;
  const group = isNamed || newest === undefined ? named : groupOf(newest);
  const parties = new Set([...(roles["sender"] ?? []), ...(roles["receiver"] ?? [])]);
  const holders = [...parties].map((party) => ({ party, instruments: [instrument] }));
  const subject = { instruments: [instrument], roles: {}, holders, allocations: [allocation] };
  const run = (definition: UtilityOperation) => () => attempt(context, contexts, group, definition, subject);
  return [{ operation: SETTLEMENT, answered: run(settlement), strict: run(strictly(settlement)) }];
}
