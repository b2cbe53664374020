/** Explanations say what would have to change for a refused request to succeed. */
import { RegistryError } from "../../../domain/errors.js";
import type { Contract } from "../../../domain/contract.js";
import type { InstrumentConfiguration, Recorder, RequestContext } from "../../sdk/registry.js";
import { candidateConfigurations } from "../selection/group.js";

/** Records nothing: only the request itself is recorded. */
export const withoutRecorder = (context: RequestContext): RequestContext => ({
  view: context.view,
  now: context.now,
  hasReachedEnd: context.hasReachedEnd,
  readHoldings: (contractIds) => context.readHoldings(contractIds),
  mayChangeAt: () => undefined,
});

/**
 * Runs `answer`, and notes which configurations are paused. If it fails and is explained, `attempt` is run on each
 * synchronizer that has contracts of the request, to find the one on which least has to change. It throws the error that
 * names all of it.
 */
export function explainingFailure<T>(
  context: RequestContext,
  { registrar, instruments }: { readonly registrar: string; readonly instruments: readonly string[] },
  answer: () => T,
  attempt: (context: RequestContext, synchronizer: string) => void,
): T {
  const { recorder, view } = context;
  if (recorder === undefined) return answer();
  const noteConfigurations = (): readonly Contract[] => {
    const configurations = instruments.flatMap((id) => [...candidateConfigurations(view, registrar, id)]);
    for (const configuration of configurations) notePaused(recorder, configuration);
    return configurations;
  };
  try {
    const answered = answer();
    noteConfigurations();
    return answered;
  } catch (error) {
    if (!(error instanceof RegistryError) || error.reason === "unavailable") throw error;
    const plain = withoutRecorder(context);
    recorder.refused(error, noteConfigurations(), (synchronizer) => attempt(plain, synchronizer));
    throw error;
  }
}

/** The rules do not refuse an instrument that is paused; the ledger may. */
function notePaused(recorder: Recorder, configuration: Contract<InstrumentConfiguration>): void {
  const { paused, defaultIdentifier, registrar } = configuration.fields;
  if (!paused) return;
  const sentence = `Instrument "${defaultIdentifier.id}" of registrar ${registrar} is paused: the choice may fail on the ledger.`;
  recorder.note(configuration, sentence);
}
