import type { Cause } from "../../domain/cause.js";
import type { Contract } from "../../domain/contract.js";
import { causesOf, RegistryError } from "../../domain/errors.js";
import type { ChangeAttempt, CredentialSearch, Recorder, Search, Sought } from "../sdk/recorder.js";
import type { Claim } from "../sdk/registry.js";
import {
  Attempts,
  type ExplainedAttempt,
  type ExplainedCandidate,
  type ExplainedClaim,
  type ExplainedRequirement,
  type ExplainedSearch,
  type Explanation,
} from "./explanation.js";

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

/** Why candidates are passed over, as predicates. */

/** As many contracts as a person can read. */
const MAX_CANDIDATES = 50;

function whyNot(contract: Contract, chosen: Contract | undefined, synchronizer: string | undefined): string {
  return whyElsewhere(contract, synchronizer) ?? (chosen === undefined ? "does not serve" : "a newer one is chosen");
}

function whyElsewhere({ synchronizerId }: Contract, synchronizer: string | undefined): string | undefined {
  if (synchronizerId === undefined) return "is between synchronizers";
  return synchronizer === undefined || synchronizerId === synchronizer
    ? undefined
    : `is on synchronizer ${synchronizerId}`;
}

/** At most `MAX_CANDIDATES`. The chosen one is always among them. */
export const listed = (candidates: readonly Contract[], chosen: Contract | undefined): readonly Contract[] =>
  chosen === undefined || candidates.length <= MAX_CANDIDATES
    ? candidates.slice(0, MAX_CANDIDATES)
    : [chosen, ...candidates.filter((candidate) => candidate !== chosen)].slice(0, MAX_CANDIDATES);

/** How many are beyond those that are listed. */
export const omitted = ({ length }: readonly Contract[]): number => Math.max(0, length - MAX_CANDIDATES);

/** As many synchronizers as a person can read about. */
const MAX_SYNCHRONIZERS = 20;

export interface FewestChanges {
  readonly changes: readonly Cause[];
  /** Why they are not about the causes, as a sentence; undefined if the causes are on the same synchronizer. */
  readonly note: string | undefined;
}

/**
 * What would have to change on the synchronizer where least has to. `refused` is the one on which the error is, if any:
 * of equally few changes those on it are preferred.
 */
function fewestChanges(
  error: RegistryError,
  refused: string | undefined,
  found: Iterable<string>,
  attempt: ChangeAttempt,
): FewestChanges {
  const synchronizers = new Set(refused === undefined ? found : [refused, ...found]);
  // Where nothing was found yet, any will do: it tells where the contracts are.
  if (synchronizers.size === 0) synchronizers.add("");
  let best: { readonly synchronizer: string; readonly changes: readonly Cause[] } | undefined;
  let onRefused = 0;
  let tried = 0;
  // The set grows by the synchronizers that an attempt names.
  for (const synchronizer of synchronizers) {
    if (++tried > MAX_SYNCHRONIZERS) break;
    const changes = changesOn(synchronizer, attempt);
    for (const change of changes) for (const named of change.synchronizers ?? []) synchronizers.add(named);
    if (synchronizer === refused) onRefused = changes.length;
    if (best === undefined || changes.length < best.changes.length) best = { synchronizer, changes };
  }
  const { synchronizer, changes = [] } = best ?? {};
  const causes = new Set(causesOf(error).map(({ message }) => message));
  const isOther = synchronizer !== refused && changes.some(({ message }) => !causes.has(message));
  const note =
    refused !== undefined && isOther
      ? `This is for synchronizer ${synchronizer}, where fewer changes are needed (${changes.length}) than on ` +
        `synchronizer ${refused} (${onRefused}), where the causes are.`
      : undefined;
  return { changes, note };
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
