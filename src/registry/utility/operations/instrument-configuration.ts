import type { Contract } from "../../../store/store.js";
import { notFound } from "../../errors.js";
import type { InstrumentConfiguration, InstrumentIdentifier, InstrumentQuestion, Scene } from "../../registry.js";
import { isMoving, onOneSynchronizer } from "../evidence/candidates.js";
import { instrumentConfiguration as configurationKind } from "../kinds/instruments.js";
import { keys } from "../kinds/keys.js";

/** The newest configuration of an instrument by its default identifier or an additional one. */
export function instrumentConfiguration(
  { view }: Scene,
  { registrar, identifier }: InstrumentQuestion,
): Contract<InstrumentConfiguration> {
  const found = view.byKey(configurationKind, keys.instrument(registrar, identifier.id));
  const matching = found.filter(({ facts }) =>
    [facts.defaultIdentifier, ...facts.additionalIdentifiers].some((known) => isSame(known, identifier)),
  );
  const { source, id, scheme } = identifier;
  const name = `the InstrumentConfiguration of registrar ${registrar} for source "${source}", id "${id}", scheme "${scheme}"`;
  if (matching.length === 0) throw notFound(`${name} does not exist`);
  return onOneSynchronizer(
    matching,
    () => name,
    (configuration) => configuration,
  );
}

/** Of each default identifier of each registrar the newest configuration that is on a synchronizer, by registrar and id. */
export function instrumentConfigurations({ view }: Scene): Contract<InstrumentConfiguration>[] {
  const newest = new Map<string, Contract<InstrumentConfiguration>>();
  for (const configuration of view.all(configurationKind)) {
    const { registrar, defaultIdentifier } = configuration.facts;
    const { source, id, scheme } = defaultIdentifier;
    const name = JSON.stringify([registrar, id, source, scheme]);
    if (!isMoving(configuration) && !newest.has(name)) newest.set(name, configuration);
  }
  return [...newest].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, configuration]) => configuration);
}

function isSame(a: InstrumentIdentifier, b: InstrumentIdentifier): boolean {
  return a.source === b.source && a.id === b.id && a.scheme === b.scheme;
}
