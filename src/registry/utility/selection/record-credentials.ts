import type { Contract } from "../../../domain/contract.js";
import type { Requirement } from "../../sdk/registry.js";
import { claimsOn, type Credential } from "../templates/parties.js";
import type { ContractSelector } from "./contract-selector.js";
import { type CredentialSelection, whyInvalid } from "./credentials.js";
import { requirementsOf, type Role } from "./requirements.js";

interface Recorded {
  readonly candidates: readonly Contract<Credential>[];
  readonly selection: CredentialSelection;
  readonly required: boolean;
}

/** Tells the recorder which credentials were found for which claims. */
export function recordCredentials(
  selector: ContractSelector,
  party: string,
  role: Role,
  instruments: readonly string[],
  { candidates, selection, required }: Recorded,
): void {
  const { recorder, now } = selector.context;
  const byRequirement = new Map<string, Requirement & { readonly instruments: string[] }>();
  for (const id of instruments) {
    for (const requirement of requirementsOf(selector, role, id)) {
      const key = JSON.stringify(requirement);
      const known = byRequirement.get(key);
      if (known === undefined) byRequirement.set(key, { ...requirement, instruments: [id] });
      else known.instruments.push(id);
    }
  }
  const fieldsOf = new Map<Contract, Credential>(candidates.map((candidate) => [candidate, candidate.fields]));
  recorder?.credentials({
    party,
    requirements: [...byRequirement.values()],
    candidates,
    chosen: selection.chosen,
    required,
    describe(candidate) {
      const fields = fieldsOf.get(candidate);
      if (fields === undefined) return { claims: [], validUntil: undefined, invalid: undefined };
      return { claims: claimsOn(fields, party), validUntil: fields.validUntil, invalid: whyInvalid(fields, now) };
    },
  });
}
