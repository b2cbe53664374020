/** What an answer needs on one synchronizer, and the errors that say what is missing, elsewhere or between two. */
import { type CauseFields, conflict, notFound, refuse, RegistryError } from "../domain/errors.js";
import type { Contract } from "../domain/contract.js";
import type { Template } from "../domain/template.js";
import type { View } from "../state/port.js";
import type { Considered, Recorder } from "./sdk/recorder.js";

/** A contract that an answer needs, for messages and causes. */
export interface Needed extends CauseFields {
  /** What messages call it, such as `the TransferRule of registrar acme`. */
  readonly name: string;
  /** Begins the codes of its causes: `rule` gives `rule-missing` and `rule-moving`. */
  readonly kind: string;
}

/** A contract of no particular kind. */
export const neededContract = (name: string, about: CauseFields = {}): Needed => ({ ...about, name, kind: "contract" });

/** The "not-found" for a contract that does not exist. */
export function missing({ name, kind, ...about }: Needed): RegistryError {
  return notFound(`${name} does not exist`, { code: `${kind}-missing`, about });
}

/** The "unavailable" for a contract that is read by id. */
export const notTold = (name: string, contractId: string): RegistryError =>
  refuse("holding-unread", `the answer depends on ${name}, which the participant has not told in time; retry later`, {
    contractId,
  });

/** The "not-found" for a registrar without a factory, by the `name` of its template. */
export const notServed = (
  registrar: string,
  { qualifiedName: template }: Pick<Template, "qualifiedName">,
  name = template,
): RegistryError =>
  refuse("registrar-not-served", `registrar ${registrar} is not served here: no ${name} of that party is known`, {
    registrar,
    template,
  });

/** The "not-found" for an instruction that was archived, or that is not known. */
export function unknownInstruction(
  view: View,
  registrar: string | undefined,
  label: string,
  contractId: string,
): RegistryError {
  const of = registrar === undefined ? "" : ` of registrar ${registrar}`;
  const about = { contractId, registrar };
  return view.wasArchived(contractId, registrar)
    ? refuse("instruction-archived", `${label} ${contractId}${of} has been archived`, about)
    : refuse(
        "instruction-unknown",
        `${label} ${contractId}${of} is not known here: it does not exist or has been archived`,
        about,
      );
}

/** The "conflict" for a contract that is not on the synchronizer of the answer. */
export function notOnSynchronizer(contract: Contract, synchronizer: string, needed: Needed): RegistryError {
  if (isInReassignment(contract)) return inReassignment(contract, needed);
  const { contractId, synchronizerId = "", template } = contract;
  const { name, kind: _kind, ...about } = needed;
  return refuse(
    "no-common-synchronizer",
    `${name} (contract ${contractId}) is on synchronizer ${synchronizerId}, ` +
      `but the contracts it is needed with are on ${synchronizer}`,
    { ...about, contractId, template: template.qualifiedName, synchronizers: [synchronizer, synchronizerId] },
  );
}

/**
 * Tries the newest candidate of each synchronizer. If all fail, throws "not-found" in preference to "conflict".
 * `considered`: what to record in place of the candidates.
 */
export function onOneSynchronizer<F, T>(
  candidates: readonly Contract<F>[],
  needed: () => Needed,
  recorder: Recorder | undefined,
  attempt: (candidate: Contract<F>, synchronizer: string) => T,
  considered?: Considered,
): T {
  const tried: string[] = [];
  const failures: { readonly candidate: Contract; readonly error: RegistryError }[] = [];
  for (const candidate of candidates) {
    const synchronizer = candidate.synchronizerId;
    if (synchronizer === undefined || tried.includes(synchronizer)) continue;
    tried.push(synchronizer);
    if (recorder !== undefined) {
      const reasons = new Map(considered?.reasons);
      for (const { candidate: other, error } of failures) reasons.set(other, `was tried first, but ${error.message}`);
      recorder.answerWith(candidate);
      recorder.search({ candidates, ...considered, needed: needed(), reasons, chosen: candidate, required: true });
    }
    try {
      return attempt(candidate, synchronizer);
    } catch (error) {
      // What is wrong with the request, or with the service, is so on every synchronizer.
      if (!(error instanceof RegistryError) || error.reason === "unavailable" || error.reason === "invalid")
        throw error;
      failures.push({ candidate, error });
    }
  }
  const refused = failures.find(({ error }) => error.reason === "not-found") ?? failures[0];
  if (refused !== undefined) {
    recorder?.answerWith(refused.candidate);
    throw refused.error;
  }
  recorder?.search({ needed: needed(), candidates, chosen: undefined, required: true });
  const [first] = candidates;
  throw first === undefined ? missing(needed()) : inReassignment(first, needed());
}

export function isInReassignment(contract: Contract): boolean {
  return contract.synchronizerId === undefined;
}

/** The "conflict" for a contract in reassignment. */
export function inReassignment({ contractId, template }: Contract, { name, kind, ...about }: Needed): RegistryError {
  return conflict(
    `${name} (contract ${contractId}) is being reassigned between synchronizers: retry when it has arrived`,
    { code: `${kind}-moving`, about: { ...about, contractId, template: template.qualifiedName } },
  );
}
