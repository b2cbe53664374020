import type { Contract } from "../../../domain/contract.js";
import type {
  InstrumentConfiguration,
  InstrumentIdentifier,
  InstrumentQuery,
  RequestContext,
  Search,
  Sought,
} from "../../sdk/registry.js";
import { isInReassignment, onOneSynchronizer } from "../selection/candidates.js";
import { instrumentConfiguration as configurationTemplate } from "../templates/instruments.js";
import { indexKeys } from "../templates/index-keys.js";

/** The newest configuration of an instrument by its default identifier; without one, by an additional one. */
export function instrumentConfiguration(
  { view, recorder }: RequestContext,
  { registrar, identifier }: InstrumentQuery,
): Contract<InstrumentConfiguration> {
  const keys = [
    indexKeys.instrument(registrar, identifier.id),
    indexKeys.additionalIdentifier(registrar, identifier.id),
  ];
  const [byDefault = [], byAdditional = []] = keys.map((key) => view.byKey(configurationTemplate, key));
  const found = [...byDefault, ...byAdditional.filter((one) => !byDefault.includes(one))];
  const ofDefault = byDefault.filter(({ fields }) => isSame(fields.defaultIdentifier, identifier));
  const matching =
    ofDefault.length > 0
      ? ofDefault
      : byAdditional.filter(({ fields }) => fields.additionalIdentifiers.some((known) => isSame(known, identifier)));
  const { source, id, scheme } = identifier;
  const name = `the InstrumentConfiguration of registrar ${registrar} for source "${source}", id "${id}", scheme "${scheme}"`;
  const needed = {
    name,
    kind: "configuration",
    registrar,
    instrument: id,
    template: configurationTemplate.qualifiedName,
  };
  if (recorder !== undefined && matching.length === 0) recorder.search(otherIdentifiers(needed, identifier.id, found));
  return onOneSynchronizer(
    matching,
    () => needed,
    recorder,
    (configuration) => configuration,
  );
}

/** The search that finds no configuration: those with the id have it from another source, or under another scheme. */
function otherIdentifiers(
  needed: Sought,
  id: string,
  candidates: readonly Contract<InstrumentConfiguration>[],
): Search {
  const identifiersOf = ({ fields }: Contract<InstrumentConfiguration>) =>
    [fields.defaultIdentifier, ...fields.additionalIdentifiers].filter((known) => known.id === id);
  const describe = (known: InstrumentIdentifier) => `source "${known.source}", id "${id}", scheme "${known.scheme}"`;
  const reasons = new Map<Contract, string>();
  for (const candidate of candidates)
    reasons.set(candidate, `is for ${identifiersOf(candidate).map(describe).join(", and ")}`);
  const [other] = candidates.flatMap(identifiersOf);
  const remedy =
    other === undefined ? undefined : `Ask for it by ${describe(other)}: a configuration for these exists.`;
  return { needed, candidates, chosen: undefined, required: true, reasons, remedy };
}

/** The newest configuration per registrar and default identifier, without those in reassignment, sorted by both. */
export function instrumentConfigurations({ view }: RequestContext): Contract<InstrumentConfiguration>[] {
  const newest = new Map<string, Contract<InstrumentConfiguration>>();
  for (const configuration of view.all(configurationTemplate)) {
    const { registrar, defaultIdentifier } = configuration.fields;
    const { source, id, scheme } = defaultIdentifier;
    const name = JSON.stringify([registrar, id, source, scheme]);
    if (!isInReassignment(configuration) && !newest.has(name)) newest.set(name, configuration);
  }
  return [...newest].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, configuration]) => configuration);
}

function isSame(a: InstrumentIdentifier, b: InstrumentIdentifier): boolean {
  return a.source === b.source && a.id === b.id && a.scheme === b.scheme;
}
