import type { Cause } from "../../domain/cause.js";
import type { Contract } from "../../domain/contract.js";
import { causesOf, RegistryError } from "../../domain/errors.js";
import type { ChangeAttempt, CredentialSearch, Recorder, Search, Sought } from "../sdk/recorder.js";
import type { Claim } from "../sdk/registry.js";
import type {
  ExplainedCandidate,
  ExplainedClaim,
  ExplainedRequirement,
  ExplainedSearch,
  Explanation,
} from "./explanation.js";

/** As many contracts and synchronizers as a person can read. */
const MAX_CANDIDATES = 50;
const MAX_SYNCHRONIZERS = 20;

interface RecordedSearch extends ExplainedSearch {
  readonly entries: string[];
}

/** Records one run of a query. */
export class AnswerRecorder implements Recorder, Explanation {
  readonly #searches = new Map<string, RecordedSearch>();
  readonly #requirements = new Map<string, ExplainedRequirement>();
  readonly #found = new Set<Contract>();
  #disclosed = new Map<Contract, string[]>();
  #entries: readonly string[] = [];
  #synchronizer: string | undefined;
  changes: readonly Cause[] | undefined;

  get searches(): readonly ExplainedSearch[] {
    return [...this.#searches.values()];
  }

  get requirements(): readonly ExplainedRequirement[] {
    return [...this.#requirements.values()];
  }

  get disclosures() {
    return Array.from(this.#disclosed, ([contract, entries]) => ({ contract, entries }));
  }

  attempt(
    needed: Sought,
    candidates: readonly Contract[],
    chosen: Contract,
    reasons?: ReadonlyMap<Contract, string>,
  ): void {
    this.#synchronizer = chosen.synchronizerId;
    this.#entries = [];
    this.#disclosed = new Map();
    // The instruction was found by its id.
    const isKnown = this.searches.some((search) =>
      search.candidates.some((one) => one.isChosen && one.contract === chosen),
    );
    if (!isKnown) this.search({ needed, candidates, chosen, required: true, reasons });
  }

  entry(names: readonly string[]): void {
    this.#entries = names;
  }

  search({ needed, candidates, chosen, required, reasons }: Search): void {
    const { name, template } = needed;
    const synchronizer = this.#synchronizer;
    const key = JSON.stringify([name, synchronizer]);
    const known = this.#searches.get(key);
    if (known !== undefined) return addAll(known.entries, this.#entries);
    // Changes are first tried where the chosen one is.
    if (chosen !== undefined) this.#found.add(chosen);
    for (const candidate of candidates) this.#found.add(candidate);
    const explain = (contract: Contract): ExplainedCandidate => ({
      contract,
      isChosen: contract === chosen,
      reason: contract === chosen ? undefined : (reasons?.get(contract) ?? whyNot(contract, chosen, synchronizer)),
    });
    this.#searches.set(key, {
      name,
      template: template ?? candidates[0]?.template.qualifiedName,
      synchronizer,
      entries: [...this.#entries],
      required,
      candidates: chosenFirst(candidates, chosen).slice(0, MAX_CANDIDATES).map(explain),
    });
  }

  credentials({ party, requirements, candidates, chosen, required, describe }: CredentialSearch): void {
    const synchronizer = this.#synchronizer;
    for (const candidate of candidates) this.#found.add(candidate);
    for (const { issuer, requiredClaims, instruments } of requirements) {
      const explainClaim = (claim: Claim): ExplainedClaim => {
        const making = candidates.filter((candidate) => describe(candidate).claims.some((made) => isSame(made, claim)));
        const credential = making.find((candidate) => chosen.includes(candidate));
        const others = making.filter((candidate) => candidate !== credential).slice(0, MAX_CANDIDATES);
        return {
          ...claim,
          credential,
          validUntil: credential === undefined ? undefined : describe(credential).validUntil,
          passedOver: others.map((contract) => ({
            contract,
            isChosen: false,
            reason: whyElsewhere(contract, synchronizer) ?? describe(contract).invalid ?? "another is preferred",
          })),
        };
      };
      const key = JSON.stringify([party, issuer, requiredClaims, synchronizer]);
      const known = this.#requirements.get(key);
      this.#requirements.set(key, {
        party,
        issuer,
        instruments: [...new Set([...(known?.instruments ?? []), ...instruments])],
        synchronizer,
        required: required || known?.required === true,
        claims: requiredClaims.map(explainClaim),
      });
    }
  }

  disclosed(contract: Contract): void {
    const entries = this.#disclosed.get(contract);
    if (entries === undefined) this.#disclosed.set(contract, [...this.#entries]);
    else addAll(entries, this.#entries);
  }

  refused(others: readonly Contract[], attempt: ChangeAttempt): void {
    const synchronizers = new Set([...this.#found, ...others].flatMap(({ synchronizerId }) => synchronizerId ?? []));
    // Where nothing was found yet, any will do: it tells where the contracts are.
    if (synchronizers.size === 0) synchronizers.add("");
    let tried = 0;
    // The set grows by the synchronizers that an attempt names.
    for (const synchronizer of synchronizers) {
      if (++tried > MAX_SYNCHRONIZERS) break;
      const changes = changesOn(synchronizer, attempt);
      for (const change of changes) for (const named of change.synchronizers ?? []) synchronizers.add(named);
      if (this.changes === undefined || changes.length < this.changes.length) this.changes = changes;
    }
  }
}

function changesOn(synchronizer: string, attempt: ChangeAttempt): readonly Cause[] {
  try {
    attempt(synchronizer);
    return [];
  } catch (error) {
    if (error instanceof RegistryError) return causesOf(error);
    throw error;
  }
}

function whyNot(contract: Contract, chosen: Contract | undefined, synchronizer: string | undefined): string {
  return whyElsewhere(contract, synchronizer) ?? (chosen === undefined ? "does not serve" : "a newer one is chosen");
}

function whyElsewhere({ synchronizerId }: Contract, synchronizer: string | undefined): string | undefined {
  if (synchronizerId === undefined) return "is between synchronizers";
  return synchronizer === undefined || synchronizerId === synchronizer
    ? undefined
    : `is on synchronizer ${synchronizerId}`;
}

const chosenFirst = (candidates: readonly Contract[], chosen: Contract | undefined): readonly Contract[] =>
  chosen === undefined || candidates.length <= MAX_CANDIDATES
    ? candidates
    : [chosen, ...candidates.filter((candidate) => candidate !== chosen)];

function addAll(list: string[], added: readonly string[]): void {
  for (const one of added) if (!list.includes(one)) list.push(one);
}

const isSame = (a: Claim, b: Claim): boolean => a.property === b.property && a.value === b.value;
