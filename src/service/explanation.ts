/** How an answer is found: what an explanation tells, and the recorder that collects it while the rules run. */
import type { Message } from "@bufbuild/protobuf";
import type {
  Candidate,
  RequiredClaim,
  Requirement,
  Search as SearchMessage,
} from "../../gen/offledger/explain/v1/explain_pb.js";
import type { Contract } from "../domain/contract.js";
import type { CredentialSearch, Recorder, Search } from "../registry/sdk/recorder.js";
import type { Claim } from "../registry/sdk/registry.js";

export interface Explanation {
  /** In the order in which they were made. */
  readonly searches: readonly ExplainedSearch[];
  readonly requirements: readonly ExplainedRequirement[];
  /** Of the answer, in its order. */
  readonly disclosures: readonly ExplainedDisclosure[];
  /** What else to know about the request, as sentences. */
  readonly notes: readonly string[];
}

/** As the messages of explain.proto, with contracts that are no messages yet. */
export interface ExplainedSearch extends Omit<SearchMessage, keyof Message | "candidates"> {
  readonly candidates: readonly ExplainedCandidate[];
}

export interface ExplainedCandidate extends Omit<Candidate, keyof Message | "contract"> {
  readonly contract: Contract;
}

/** Claims that a party needs from one issuer. */
export interface ExplainedRequirement extends Omit<Requirement, keyof Message | "claims"> {
  readonly claims: readonly ExplainedClaim[];
}

interface ExplainedClaim extends Omit<RequiredClaim, keyof Message | "validUntil" | "passedOver"> {
  /** In microseconds since 1970; undefined if the credential does not end. */
  readonly validUntil: number | undefined;
  readonly passedOver: readonly ExplainedCandidate[];
}

interface ExplainedDisclosure {
  readonly contract: Contract;
  readonly entries: string[];
}

/** What was recorded about the answer with one factory or instruction, or before one was chosen. */
class Findings {
  readonly searches = new Map<string, ExplainedSearch>();
  readonly requirements = new Map<string, ExplainedRequirement>();
  readonly disclosed = new Map<Contract, string[]>();

  constructor(readonly synchronizer = "") {}
}

/** Records one run of a query. */
export class ExplanationRecorder implements Recorder, Explanation {
  readonly #before = new Findings();
  readonly #byContract = new Map<Contract, Findings>();
  #current = this.#before;
  #entries: readonly string[] = [];
  readonly #notes = new Map<Contract, string>();
  readonly #remarks = new Set<string>();

  get searches(): readonly ExplainedSearch[] {
    return this.#counting.flatMap(({ searches }) => [...searches.values()]);
  }

  get requirements(): readonly ExplainedRequirement[] {
    return this.#counting.flatMap(({ requirements }) => [...requirements.values()]);
  }

  get disclosures(): readonly ExplainedDisclosure[] {
    return this.#counting.flatMap(({ disclosed }) =>
      Array.from(disclosed, ([contract, entries]) => ({ contract, entries })),
    );
  }

  get notes(): readonly string[] {
    const found = this.searches.flatMap(
      ({ candidates }) => candidates.find((one) => one.chosen) ?? candidates[0] ?? [],
    );
    return [...new Set([...this.#remarks, ...found.flatMap(({ contract }) => this.#notes.get(contract) ?? [])])];
  }

  get #counting(): readonly Findings[] {
    return this.#current === this.#before ? [this.#before] : [this.#before, this.#current];
  }

  answerWith(contract: Contract): void {
    this.#current = this.#byContract.get(contract) ?? new Findings(contract.synchronizerId);
    this.#byContract.set(contract, this.#current);
    this.#entries = [];
  }

  entry(names: readonly string[]): void {
    this.#entries = names;
  }

  search({ needed: { name, template }, candidates, chosen, required, reasons }: Search): void {
    const { searches, synchronizer } = this.#current;
    const known = searches.get(name);
    if (known !== undefined) return addAll(known.entries, this.#entries);
    const whyNot = chosen === undefined ? "does not serve" : "a newer one is chosen";
    searches.set(name, {
      name,
      template: template ?? candidates[0]?.template.qualifiedName ?? "",
      synchronizer,
      entries: [...this.#entries],
      required,
      candidates: listed(candidates, chosen).map((contract) => ({
        contract,
        chosen: contract === chosen,
        reason: contract === chosen ? "" : (reasons?.get(contract) ?? whyElsewhere(contract, synchronizer) ?? whyNot),
      })),
      omittedCandidates: omitted(candidates),
    });
  }

  credentials({ party, requirements, required, describe }: CredentialSearch): void {
    const { synchronizer, requirements: recorded } = this.#current;
    for (const { issuer, requiredClaims, instruments, metBy, candidates } of requirements) {
      const explainClaim = (claim: Claim, making: readonly Contract[]): ExplainedClaim => {
        const others = making.filter((candidate) => candidate !== metBy);
        const whyNotChosen = metBy === undefined ? "does not meet the whole requirement" : "another is preferred";
        return {
          ...claim,
          credential: metBy?.contractId ?? "",
          validUntil: metBy === undefined ? undefined : describe(metBy).validUntil,
          passedOver: listed(others, undefined).map((contract) => ({
            contract,
            chosen: false,
            reason: whyElsewhere(contract, synchronizer) ?? describe(contract).invalid ?? whyNotChosen,
          })),
          omittedPassedOver: omitted(others),
        };
      };
      const makes = ({ property, value }: Claim) =>
        candidates.filter((candidate) =>
          describe(candidate).claims.some((made) => made.property === property && made.value === value),
        );
      const key = JSON.stringify([party, issuer, requiredClaims]);
      const known = recorded.get(key);
      recorded.set(key, {
        party,
        issuer,
        instruments: [...new Set([...(known?.instruments ?? []), ...instruments])],
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
    const { disclosed } = this.#current;
    const entries = disclosed.get(contract);
    if (entries === undefined) disclosed.set(contract, [...this.#entries]);
    else addAll(entries, this.#entries);
  }

  note(contract: Contract, sentence: string): void {
    this.#notes.set(contract, sentence);
  }

  remark(sentence: string): void {
    this.#remarks.add(sentence);
  }
}

function addAll(list: string[], added: readonly string[]): void {
  for (const one of added) if (!list.includes(one)) list.push(one);
}

function whyElsewhere({ synchronizerId }: Contract, synchronizer: string): string | undefined {
  if (synchronizerId === undefined) return "is between synchronizers";
  return synchronizer === "" || synchronizerId === synchronizer ? undefined : `is on synchronizer ${synchronizerId}`;
}

/** As many contracts as a person can read. */
const MAX_CANDIDATES = 50;

/** At most `MAX_CANDIDATES`. The chosen one is always among them. */
const listed = (candidates: readonly Contract[], chosen: Contract | undefined): readonly Contract[] =>
  chosen === undefined || candidates.length <= MAX_CANDIDATES
    ? candidates.slice(0, MAX_CANDIDATES)
    : [chosen, ...candidates.filter((candidate) => candidate !== chosen)].slice(0, MAX_CANDIDATES);

/** How many are beyond those that are listed. */
const omitted = ({ length }: readonly Contract[]): number => Math.max(0, length - MAX_CANDIDATES);
