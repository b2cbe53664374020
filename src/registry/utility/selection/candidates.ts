import type { Contract } from "../../../domain/contract.js";
import { conflict, notFound, RegistryError } from "../../../domain/errors.js";

/** The newest candidate that is on the synchronizer. Candidates come newest first. */
export function activeOn<F>(candidates: readonly Contract<F>[], synchronizer: string): Contract<F> | undefined {
  for (const candidate of candidates) if (candidate.synchronizerId === synchronizer) return candidate;
  return undefined;
}

/**
 * Ends a request for which there has to be a candidate on the synchronizer, and
 * none is. `name` is what messages call it: "the TransferRule of registrar …".
 * Throws not-found where there is no candidate at all, conflict where there is
 * one elsewhere.
 */
export function missingOn(candidates: readonly Contract[], synchronizer: string, name: string): never {
  const other = candidates.find(isInReassignment) ?? candidates[0];
  if (other === undefined) throw notFound(`${name} does not exist`);
  throw notOnSynchronizer(other, synchronizer, name);
}

/** Why a contract that exists cannot be disclosed with others on a synchronizer. */
export function notOnSynchronizer(contract: Contract, synchronizer: string, name: string): RegistryError {
  return isInReassignment(contract)
    ? moving(contract, name)
    : conflict(
        `${name} (contract ${contract.contractId}) is on synchronizer ${contract.synchronizerId}, ` +
          `and what it is needed with is on ${synchronizer}`,
      );
}

/** The synchronizer of a contract that has to be on one. Throws conflict while it is between two. */
export function requireSynchronizer(contract: Contract, name: string): string {
  if (contract.synchronizerId === undefined) throw moving(contract, name);
  return contract.synchronizerId;
}

/**
 * Tries each synchronizer on which there is a candidate for the home of an
 * answer, its newest candidate first, until `attempt` finds all it needs there.
 * Where none has it all, what does not exist anywhere is told before what is
 * only on another synchronizer. `candidates` must not be empty.
 */
export function onOneSynchronizer<F, T>(
  candidates: readonly Contract<F>[],
  name: () => string,
  attempt: (home: Contract<F>, synchronizer: string) => T,
): T {
  const tried: string[] = [];
  const failures: RegistryError[] = [];
  for (const home of candidates) {
    const synchronizer = home.synchronizerId;
    if (synchronizer === undefined || tried.includes(synchronizer)) continue;
    tried.push(synchronizer);
    try {
      return attempt(home, synchronizer);
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      failures.push(error);
    }
  }
  const [first] = candidates;
  if (first === undefined) throw notFound(`${name()} does not exist`);
  throw failures.find(({ reason }) => reason === "not-found") ?? failures[0] ?? moving(first, name());
}

export function isInReassignment(contract: Contract): boolean {
  return contract.synchronizerId === undefined;
}

function moving(contract: Contract, name: string): RegistryError {
  return conflict(
    `${name} (contract ${contract.contractId}) is being reassigned between synchronizers; ask again when it has arrived`,
  );
}
