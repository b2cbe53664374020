import type { Contract } from "../../../domain/contract.js";
import { conflict, notFound } from "../../../domain/errors.js";
import type { Requirement } from "../../sdk/registry.js";
import { indexKeys } from "../templates/index-keys.js";
import { type Credential, credential } from "../templates/parties.js";
import { notOnSynchronizer } from "./candidates.js";
import type { ContractSelector } from "./contract-selector.js";
import { chooseCredentials, indexOfIssuer } from "./credentials.js";
import { requirementsFor, type Role } from "./requirements.js";

/** Throws "not-found" if the party lacks credentials, "conflict" if it has them only on another synchronizer. */
export function selectCredentials(
  selector: ContractSelector,
  party: string,
  role: Role,
  instruments: readonly string[],
): readonly Contract<Credential>[] {
  const requirements = collectRequirements(selector, role, instruments);
  if (requirements.length === 0) return [];
  const { synchronizer, now } = selector;
  const candidates = findCandidates(selector, party, requirements);
  const selection = chooseCredentials(party, requirements, filterSynchronizer(candidates, synchronizer), now);
  if (selection.met) return selection.chosen;
  const claims = selection.lacking.map(({ property, value }) => `${property} = ${value}`).join(", ");
  const name = `a valid credential for ${party} from issuer ${selection.issuer} with the claim ${claims}`;
  const anywhere = chooseCredentials(party, requirements, candidates, now);
  if (!anywhere.met) throw notFound(`${name} does not exist`);
  const elsewhere = anywhere.chosen.find(({ synchronizerId }) => synchronizerId !== synchronizer);
  throw elsewhere === undefined ? conflict(name) : notOnSynchronizer(elsewhere, synchronizer, name);
}

function collectRequirements(
  selector: ContractSelector,
  role: Role,
  instruments: readonly string[],
): readonly Requirement[] {
  const [only, second] = instruments;
  if (only !== undefined && second === undefined) return requirementsOf(selector, role, only);
  return instruments.flatMap((id) => requirementsOf(selector, role, id));
}

function requirementsOf(selector: ContractSelector, role: Role, instrument: string): readonly Requirement[] {
  const configuration = selector.configuration(instrument);
  return configuration === undefined ? [] : requirementsFor(role, configuration.fields);
}

/** The party's credentials from the issuers of the requirements, on any synchronizer. */
function findCandidates(
  { view }: ContractSelector,
  party: string,
  requirements: readonly Requirement[],
): readonly Contract<Credential>[] {
  const [only, second] = requirements;
  if (only !== undefined && second === undefined)
    return view.byKey(credential, indexKeys.credential(party, only.issuer));
  const found: Contract<Credential>[] = [];
  for (const [index, { issuer }] of requirements.entries()) {
    if (indexOfIssuer(issuer, requirements) < index) continue;
    for (const one of view.byKey(credential, indexKeys.credential(party, issuer))) found.push(one);
  }
  return found;
}

/** Returns the given list if nothing is to be filtered out, which is the usual case. */
function filterSynchronizer<F>(contracts: readonly Contract<F>[], synchronizer: string): readonly Contract<F>[] {
  for (const contract of contracts) {
    if (contract.synchronizerId !== synchronizer) return contracts.filter((one) => one.synchronizerId === synchronizer);
  }
  return contracts;
}
