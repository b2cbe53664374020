/** Explanations say what would have to change for a refused request to succeed. */
import { RegistryError } from "../../../domain/errors.js";
import type { Contract } from "../../../domain/contract.js";
import type { RequestContext } from "../../sdk/registry.js";
import { candidateConfigurations, instrumentConfigurationLookup } from "../selection/contract-selector.js";

/** Announces nothing to a recorder: only the request itself is recorded. */
export const withoutRecorder = ({ view, now }: RequestContext): RequestContext => ({
  view,
  now,
  mayChangeAt: () => undefined,
});

/**
 * Runs `answer`. If it fails and is explained, `attempt` is run on each synchronizer that has contracts of the request,
 * to find the one on which least has to change. It throws the error that names all of it.
 */
export function explainingFailure<T>(
  context: RequestContext,
  { registrar, instruments }: { readonly registrar: string; readonly instruments: readonly string[] },
  answer: () => T,
  attempt: (context: RequestContext, synchronizer: string) => void,
): T {
  const { recorder, view } = context;
  if (recorder === undefined) return answer();
  try {
    return answer();
  } catch (error) {
    if (!(error instanceof RegistryError) || error.reason === "unavailable") throw error;
    view.prefetch(() => instruments.map((id) => instrumentConfigurationLookup(registrar, id)));
    const configurations: readonly Contract[] = instruments.flatMap((id) => [
      ...candidateConfigurations(view, registrar, id),
    ]);
    const plain = withoutRecorder(context);
    recorder.refused(configurations, (synchronizer) => attempt(plain, synchronizer));
    throw error;
  }
}
