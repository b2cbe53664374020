import type { Contract } from "../../../../domain/contract.js";
import type { ContractLookup, View } from "../../../../store/port.js";
import type { Check, CheckContext, InstrumentConfiguration, Warning } from "../../../sdk/registry.js";
import { requirementsFor, type Role } from "../../selection/credentials.js";
import { indexKeys } from "../../templates/index-keys.js";
import { instrumentConfiguration } from "../../templates/instruments.js";
import { type Credential, credential } from "../../templates/parties.js";
import { findLoss, subjectsOf } from "../credential-loss.js";
import type { LinesByOperation } from "../operation-lines.js";
import { remedies } from "../remedies.js";

const DAY_MS = 86_400_000;
const MICROS_PER_MS = 1_000;

interface Ending {
  readonly ending: Contract<Credential>;
  /** Microseconds since 1970. */
  readonly validUntil: number;
}

/** An instrument whose requirements parties no longer meet. */
interface Loss {
  readonly configuration: InstrumentConfiguration;
  readonly role: Role;
  readonly parties: readonly string[];
}

/** Credentials that end soon, and without which a party no longer meets the requirements of an instrument. */
export const checkCredentials = (lines: LinesByOperation): Check<Credential> => ({
  template: credential,
  warnings(context, credentials) {
    const ending = credentials.flatMap((one) => endingOf(one, context));
    if (ending.length === 0) return [];
    const configurations = newestConfigurations(context.view);
    context.view.prefetch(() => ending.flatMap((one) => lookupsOf(one.ending)));
    return ending.flatMap((one) => {
      const [first, ...others] = findLosses(context, one, configurations);
      return first === undefined ? [] : [toWarning(context, lines, one, first, others)];
    });
  },
});

/** Empty if it does not end soon. */
function endingOf(ending: Contract<Credential>, { now, credentialDays }: CheckContext): Ending[] {
  const { validUntil } = ending.fields;
  if (validUntil === undefined || ending.synchronizerId === undefined) return [];
  const isSoon = validUntil > now * MICROS_PER_MS && validUntil <= (now + credentialDays * DAY_MS) * MICROS_PER_MS;
  return isSoon ? [{ ending, validUntil }] : [];
}

/** The credentials that may replace it. */
const lookupsOf = ({ fields }: Contract<Credential>): ContractLookup[] =>
  subjectsOf(fields).map((subject) => ({
    template: credential,
    indexKey: indexKeys.credential(fields.issuer, subject),
  }));

/** The newest configuration of each instrument. */
function newestConfigurations(view: View): readonly InstrumentConfiguration[] {
  const newest = new Map<string, InstrumentConfiguration>();
  for (const { fields } of view.all(instrumentConfiguration)) {
    const key = indexKeys.instrument(fields.registrar, fields.defaultIdentifier.id);
    if (!newest.has(key)) newest.set(key, fields);
  }
  return [...newest.values()];
}

function findLosses(
  { view, now }: CheckContext,
  { ending, validUntil }: Ending,
  configurations: readonly InstrumentConfiguration[],
): readonly Loss[] {
  const byRequirements = new Map<string, readonly string[]>();
  return configurations.flatMap((configuration) =>
    (["holder", "issuer"] as const).flatMap((role) => {
      const requirements = requirementsFor(role, configuration).filter(({ issuer }) => issuer === ending.fields.issuer);
      if (requirements.length === 0) return [];
      // Many instruments have the same requirements.
      const key = JSON.stringify(requirements);
      const parties = byRequirements.get(key) ?? findLoss(view, ending, validUntil, requirements, now);
      byRequirements.set(key, parties);
      return parties.length === 0 ? [] : [{ configuration, role, parties }];
    }),
  );
}

function toWarning(
  { now }: CheckContext,
  { factories, choices }: LinesByOperation,
  { ending: { contractId, fields }, validUntil }: Ending,
  first: Loss,
  others: readonly Loss[],
): Warning {
  const { configuration, role, parties } = first;
  const { registrar, defaultIdentifier } = configuration;
  const roles = new Set([first, ...others].map((loss) => loss.role));
  const endMs = validUntil / MICROS_PER_MS;
  const days = Math.max(1, Math.ceil((endMs - now) / DAY_MS));
  const end = `${new Date(endMs).toISOString()}, in ${days} ${days === 1 ? "day" : "days"}`;
  const instruments = others.length === 0 ? "" : ` and of ${others.length} more`;
  return {
    kind: "credential-expires",
    registrar,
    instrument: defaultIdentifier.id,
    contractId,
    party: parties[0],
    operations: [...factories.values(), ...choices.values()]
      .filter((lines) => lines.roles.some((one) => roles.has(one)))
      .map(({ operation }) => operation),
    problem:
      `credential ${contractId} of issuer ${fields.issuer} ends at ${end}. From then on ${countParties(parties)} ` +
      `the requirements on the ${role} of instrument "${defaultIdentifier.id}" of registrar ${registrar}${instruments}`,
    remedy: remedies["credential-expires"],
  };
}

const countParties = ([first, ...others]: readonly string[]): string =>
  others.length === 0 ? `${first} does not meet` : `${first} and ${others.length} more do not meet`;
