import type { Contract } from "../../../domain/contract.js";
import { conflict, notFound, RegistryError } from "../../../domain/errors.js";

/** The newest candidate on the synchronizer. Candidates come newest first. */
export function activeOn<F>(candidates: readonly Contract<F>[], synchronizer: string): Contract<F> | undefined {
  for (const candidate of candidates) if (candidate.synchronizerId === synchronizer) return candidate;
  return undefined;
}

/** Throws "not-found" without candidates, "conflict" with candidates elsewhere. `name` is for the message. */
export function missingOn(candidates: readonly Contract[], synchronizer: string, name: string): never {
  const elsewhere = candidates.find(isInReassignment) ?? candidates[0];
  if (elsewhere === undefined) throw notFound(`${name} does not exist`);
  throw notOnSynchronizer(elsewhere, synchronizer, name);
}

/** The "conflict" for a contract that is not on the synchronizer of the answer. */
export function notOnSynchronizer(contract: Contract, synchronizer: string, name: string): RegistryError {
  return isInReassignment(contract)
    ? inReassignment(contract, name)
    : conflict(
        `${name} (contract ${contract.contractId}) is on synchronizer ${contract.synchronizerId}, ` +
          `but the contracts it is needed with are on ${synchronizer}`,
      );
}

/** The contract's synchronizer. Throws "conflict" if the contract is in reassignment. */
export function requireSynchronizer(contract: Contract, name: string): string {
  if (contract.synchronizerId === undefined) throw inReassignment(contract, name);
  return contract.synchronizerId;
}

/** Tries the newest candidate of each synchronizer. If all fail, throws "not-found" in preference to "conflict". */
export function onOneSynchronizer<F, T>(
  candidates: readonly Contract<F>[],
  name: () => string,
  attempt: (candidate: Contract<F>, synchronizer: string) => T,
): T {
  const tried: string[] = [];
  const failures: RegistryError[] = [];
  for (const candidate of candidates) {
    const synchronizer = candidate.synchronizerId;
    if (synchronizer === undefined || tried.includes(synchronizer)) continue;
    tried.push(synchronizer);
    try {
      return attempt(candidate, synchronizer);
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      failures.push(error);
    }
  }
  const [first] = candidates;
  if (first === undefined) throw notFound(`${name()} does not exist`);
  throw failures.find(({ reason }) => reason === "not-found") ?? failures[0] ?? inReassignment(first, name());
}

export function isInReassignment(contract: Contract): boolean {
  return contract.synchronizerId === undefined;
}

/** The "conflict" for a contract in reassignment. */
export function inReassignment(contract: Contract, name: string): RegistryError {
  return conflict(
    `${name} (contract ${contract.contractId}) is being reassigned between synchronizers: retry when it has arrived`,
  );
}
