import type { Cause } from "../../domain/cause.js";
import type { Contract } from "../../domain/contract.js";
import type { RegistryError } from "../../domain/errors.js";
import type { ChangeAttempt, CredentialSearch, Recorder, Search, Sought } from "../sdk/recorder.js";
import type { Claim } from "../sdk/registry.js";
import { Attempts } from "./attempts.js";
import type {
  ExplainedAttempt,
  ExplainedCandidate,
  ExplainedClaim,
  ExplainedRequirement,
  ExplainedSearch,
  Explanation,
} from "./explanation.js";
import { fewestChanges } from "./fewest-changes.js";
import { listed, omitted, whyElsewhere, whyNot } from "./passed-over.js";

interface RecordedSearch extends ExplainedSearch {
  readonly entries: string[];
}

/** Records one run of a query. */
export class AnswerRecorder implements Recorder, Explanation {
  readonly #searches = new Map<string, RecordedSearch>();
  readonly #requirements = new Map<string, ExplainedRequirement>();
  readonly #found = new Set<Contract>();
  readonly #attempts = new Attempts();
  readonly #notes = new Map<Contract, string>();
  readonly #remarks = new Set<string>();
  #disclosed = new Map<Contract, string[]>();
  #entries: readonly string[] = [];
  #synchronizer: string | undefined;
  changes: readonly Cause[] | undefined;
  changesNote: string | undefined;

  get attempts(): readonly ExplainedAttempt[] {
    return this.#attempts.explained();
  }

  get searches(): readonly ExplainedSearch[] {
    return Array.from(this.#searches.values(), (search) => this.#withoutGivenUp(search));
  }

  get requirements(): readonly ExplainedRequirement[] {
    return [...this.#requirements.values()];
  }

  get disclosures() {
    return Array.from(this.#disclosed, ([contract, entries]) => ({ contract, entries }));
  }

  get notes(): readonly string[] {
    const { answered } = this.#attempts;
    const relevant = this.searches.filter(({ attempt }) => attempt === 0 || attempt === answered);
    const found = relevant.flatMap(({ candidates }) => candidates.find((one) => one.isChosen) ?? candidates[0] ?? []);
    return [...new Set([...this.#remarks, ...found.flatMap(({ contract }) => this.#notes.get(contract) ?? [])])];
  }

  attempt(
    needed: Sought,
    candidates: readonly Contract[],
    chosen: Contract,
    reasons?: ReadonlyMap<Contract, string>,
  ): void {
    this.#attempts.begin(needed.name, chosen);
    this.#synchronizer = chosen.synchronizerId;
    this.#entries = [];
    this.#disclosed = new Map();
    // The instruction was found by its id.
    const isKnown = this.searches.some((search) =>
      search.candidates.some((one) => one.isChosen && one.contract === chosen),
    );
    if (!isKnown) this.search({ needed, candidates, chosen, required: true, reasons });
  }

  gaveUp(error: RegistryError): void {
    this.#attempts.giveUp(error);
  }

  entry(names: readonly string[]): void {
    this.#entries = names;
  }

  search({ needed, candidates, chosen, required, reasons, remedy }: Search): void {
    const { name, template } = needed;
    const synchronizer = this.#synchronizer;
    const attempt = this.#attempts.latest;
    const key = JSON.stringify([name, attempt]);
    const known = this.#searches.get(key);
    if (known !== undefined) return addAll(known.entries, this.#entries);
    // Changes are first tried where the chosen one is.
    if (chosen !== undefined) this.#found.add(chosen);
    for (const candidate of candidates) this.#found.add(candidate);
    const why = (contract: Contract) =>
      reasons?.get(contract) ?? this.#attempts.whyGivenUp(contract) ?? whyNot(contract, chosen, synchronizer);
    const explain = (contract: Contract): ExplainedCandidate => ({
      contract,
      isChosen: contract === chosen,
      reason: contract === chosen ? undefined : why(contract),
    });
    this.#searches.set(key, {
      name,
      sought: needed,
      attempt,
      template: template ?? candidates[0]?.template.qualifiedName,
      synchronizer,
      entries: [...this.#entries],
      required,
      candidates: listed(candidates, chosen).map(explain),
      omitted: omitted(candidates),
      remedy,
    });
  }

  credentials({ party, requirements, required, describe }: CredentialSearch): void {
    const synchronizer = this.#synchronizer;
    const attempt = this.#attempts.latest;
    for (const { issuer, requiredClaims, instruments, metBy, candidates } of requirements) {
      for (const candidate of candidates) this.#found.add(candidate);
      const explainClaim = (claim: Claim, making: readonly Contract[]): ExplainedClaim => {
        const others = making.filter((candidate) => candidate !== metBy);
        const whyNotChosen = metBy === undefined ? "does not meet the whole requirement" : "another is preferred";
        return {
          ...claim,
          credential: metBy,
          validUntil: metBy === undefined ? undefined : describe(metBy).validUntil,
          passedOver: listed(others, undefined).map((contract) => ({
            contract,
            isChosen: false,
            reason: whyElsewhere(contract, synchronizer) ?? describe(contract).invalid ?? whyNotChosen,
          })),
          omitted: omitted(others),
        };
      };
      const makes = (claim: Claim) =>
        candidates.filter((candidate) => describe(candidate).claims.some((made) => isSame(made, claim)));
      const key = JSON.stringify([party, issuer, requiredClaims, attempt]);
      const known = this.#requirements.get(key);
      this.#requirements.set(key, {
        party,
        issuer,
        instruments: [...new Set([...(known?.instruments ?? []), ...instruments])],
        attempt,
        synchronizer,
        required: required || known?.required === true,
        // A requirement without claims is met by any credential of the issuer.
        claims:
          requiredClaims.length === 0
            ? [explainClaim({ property: "", value: "" }, candidates)]
            : requiredClaims.map((claim) => explainClaim(claim, makes(claim))),
      });
    }
  }

  disclosed(contract: Contract): void {
    const entries = this.#disclosed.get(contract);
    if (entries === undefined) this.#disclosed.set(contract, [...this.#entries]);
    else addAll(entries, this.#entries);
  }

  refused(error: RegistryError, others: readonly Contract[], attempt: ChangeAttempt): void {
    this.#attempts.refuse(error);
    const synchronizers = [...this.#found, ...others].flatMap(({ synchronizerId }) => synchronizerId ?? []);
    const refused = this.#attempts.answeredContract?.synchronizerId;
    const { changes, note } = fewestChanges(error, refused, synchronizers, attempt);
    this.changes = changes;
    this.changesNote = note;
  }

  note(contract: Contract, sentence: string): void {
    this.#notes.set(contract, sentence);
  }

  remark(sentence: string): void {
    this.#remarks.add(sentence);
  }

  /** The contract of an attempt that was given up was chosen for it alone, not for the answer. */
  #withoutGivenUp(search: ExplainedSearch): ExplainedSearch {
    const candidates = search.candidates.map((candidate) => {
      const reason = this.#attempts.whyNotAnswered(search.attempt, candidate.contract);
      return reason === undefined || !candidate.isChosen ? candidate : { ...candidate, isChosen: false, reason };
    });
    return { ...search, candidates };
  }
}

function addAll(list: string[], added: readonly string[]): void {
  for (const one of added) if (!list.includes(one)) list.push(one);
}

const isSame = (a: Claim, b: Claim): boolean => a.property === b.property && a.value === b.value;
