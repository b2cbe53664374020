/** The contracts of one answer: all of one group, on one synchronizer. */
import type { Contract } from "../../domain/contract.js";
import { combineErrors, notFound, refuse, type RegistryError } from "../../domain/errors.js";
import type { Template } from "../../domain/template.js";
import { hasUnreadable, type View } from "../../state/port.js";
import { isInReassignment, missing, type Needed, notOnSynchronizer } from "../needed.js";
import type { Considered, RequestContext } from "../sdk/registry.js";

/** The parties that all contracts of an answer name, as far as they name one in the role. */
export interface Group {
  readonly registrar: string;
  /** Undefined if any will do: a registry may have none, an instruction of a module may name none. `provider` too. */
  readonly operator: string | undefined;
  readonly provider: string | undefined;
}

/** A contract that was not found, and what depends on it. */
export interface NegativeLookup {
  readonly templates: readonly Template[];
  /** Undefined if it was looked for by something else. */
  readonly contractId: string | undefined;
  readonly entry: string;
  /** Whether the ledger may have it although the store does not. */
  readonly mayBeAhead: boolean;
}

/**
 * Selects the contracts of one answer from the candidates in the store. Candidates come newest first, as `view.byKey`
 * returns them, and may be on any synchronizer or in reassignment.
 */
export class ContractSelector {
  /** Whether what the line that is written does not require is left out also where it is elsewhere or in reassignment. */
  allowsMissing = false;
  /** Whether the line is left out also where the participant does not tell in time what it would read by id. */
  allowsUntold = false;
  /** What entries keep for the answer, by their names. */
  #kept: Map<string, unknown> | undefined;
  /** Why the answer cannot be given. All are collected, so that the message names all. */
  #failures: RegistryError[] | undefined;
  #negatives: NegativeLookup[] | undefined;
  #whenComplete: (() => readonly RegistryError[]) | undefined;

  /** All contracts of the answer that name an operator and a provider name those of the group, and are on the synchronizer. */
  constructor(
    readonly context: RequestContext,
    readonly group: Group,
    readonly synchronizer: string,
  ) {}

  get view(): View {
    return this.context.view;
  }

  /** The registrar of the request: the admin of its instruments. */
  get registrar(): string {
    return this.group.registrar;
  }

  /** The answer cannot be given. The first error decides the status. */
  fail(error: RegistryError): void {
    (this.#failures ??= []).push(error);
  }

  get hasFailed(): boolean {
    return this.#failures !== undefined;
  }

  /** Finds why the answer cannot be given once it is complete: that comes after what has failed. */
  failWhenComplete(find: () => readonly RegistryError[]): void {
    this.#whenComplete = find;
  }

  /** What is kept under the name, else what `make` returns, which is kept for the answer. */
  keep<T>(name: string, make: () => T): T {
    const kept = (this.#kept ??= new Map());
    // Each name is used with one type.
    if (kept.has(name)) return kept.get(name) as T;
    const made = make();
    kept.set(name, made);
    return made;
  }

  /** The answer depends on whether a contract exists that was not found. */
  noteNegative(absence: NegativeLookup): void {
    (this.#negatives ??= []).push(absence);
  }

  /** Throws one error for all that is wrong. Call it when the answer is complete. */
  finish(): void {
    const [first, ...others] = [...(this.#failures ?? []), ...(this.#whenComplete?.() ?? [])];
    if (first !== undefined) throw combineErrors(first, others);
    const unproven = this.#uncertainNegative();
    if (unproven !== undefined) throw unproven;
  }

  /** The newest of the candidates on the synchronizer of the answer; undefined if none is there. */
  newest<F>(candidates: readonly Contract<F>[]): Contract<F> | undefined {
    for (const candidate of candidates) if (candidate.synchronizerId === this.synchronizer) return candidate;
    return undefined;
  }

  /** As `select`, among the candidates of the group. */
  selectOfGroup<F>(all: readonly Contract<F>[], required: boolean, needed: Needed): Contract<F> | undefined {
    const candidates = ofGroup(all, this.group);
    const isExplained = this.context.recorder !== undefined && candidates !== all;
    const considered = isExplained ? otherGroups(all, this.group) : undefined;
    return this.select(
      candidates,
      required,
      () => ({ ...needed, name: `${needed.name}${namingGroup(all, this.group)}` }),
      considered,
    );
  }

  /**
   * The newest of the candidates on the synchronizer of the answer. Without one, as `missing`. `considered`: what to
   * record in place of the candidates.
   */
  select<F>(
    candidates: readonly Contract<F>[],
    required: boolean,
    needed: () => Needed,
    considered?: Considered,
  ): Contract<F> | undefined {
    const chosen = this.newest(candidates);
    this.context.recorder?.search({ needed: needed(), candidates, ...considered, chosen, required });
    return chosen ?? this.missing(candidates, required, needed);
  }

  /**
   * Decides for a contract of which `newest` found none. The answer fails with "conflict" if a candidate is in
   * reassignment; if the contract is `required`, with "not-found" without candidates, with "conflict" for candidates
   * elsewhere. It fails when it is complete, so that the message names all that is missing. `needed` is what the message
   * calls the contract.
   */
  missing(candidates: readonly Contract[], required: boolean, needed: () => Needed): undefined {
    if (!required && this.allowsMissing) return;
    const elsewhere = candidates.find(isInReassignment) ?? (required ? candidates[0] : undefined);
    if (elsewhere === undefined && !required) return;
    this.fail(elsewhere === undefined ? missing(needed()) : notOnSynchronizer(elsewhere, this.synchronizer, needed()));
  }

  /**
   * Not to find a contract is no proof that it does not exist. It may be one that could not be parsed: "unavailable". Or the
   * ledger is ahead: "not-found", with which the request waits until the store has all that the ledger had when it came.
   */
  #uncertainNegative(): RegistryError | undefined {
    const absences = this.#negatives;
    if (absences === undefined) return undefined;
    for (const { templates, contractId, entry } of absences) {
      const template = templates.find((one) => hasUnreadable(this.view, one, contractId));
      if (template !== undefined) return unreadable(template, `entry ${entry}`, contractId);
    }
    if (this.context.hasReachedEnd) return undefined;
    for (const { contractId, entry, mayBeAhead } of absences)
      if (mayBeAhead && contractId !== undefined && !this.view.wasArchived(contractId))
        return notFound(`contract ${contractId} (entry ${entry}) is not known here`, { about: { contractId } });
    return undefined;
  }
}

/** The "unavailable" for a contract that may be one that could not be parsed. */
export function unreadable({ qualifiedName }: Template, what: string, contractId?: string): RegistryError {
  const which =
    contractId === undefined ? `a contract of ${qualifiedName}` : `contract ${contractId} of ${qualifiedName}`;
  return refuse(
    "contract-unreadable",
    `${which} (${what}) could not be parsed: what depends on whether it exists cannot be answered`,
    { template: qualifiedName, contractId },
  );
}

/** The party of a contract in a role; undefined if it names none. */
function partyOf({ fields }: Contract, role: "operator" | "provider"): string | undefined {
  if (typeof fields !== "object" || fields === null || !("roles" in fields)) return undefined;
  return (fields.roles as Readonly<Record<string, readonly string[]>>)[role]?.[0];
}

export function isOfGroup(contract: Contract, { operator, provider }: Group): boolean {
  const isSame = (role: "operator" | "provider", wanted: string | undefined) => {
    const named = wanted === undefined ? undefined : partyOf(contract, role);
    return named === undefined || named === wanted;
  };
  return isSame("operator", operator) && isSame("provider", provider);
}

/** The candidates of the group. Returns the given list if all are, which is the usual case. */
export function ofGroup<F>(candidates: readonly Contract<F>[], group: Group): readonly Contract<F>[] {
  for (const candidate of candidates)
    if (!isOfGroup(candidate, group)) return candidates.filter((one) => isOfGroup(one, group));
  return candidates;
}

/** For explanations: why candidates of other groups are passed over. */
export function otherGroups(candidates: readonly Contract[], group: Group): Considered {
  const reasons = new Map(
    candidates
      .filter((candidate) => !isOfGroup(candidate, group))
      .map((one) => [one, `is of operator ${partyOf(one, "operator")}, provider ${partyOf(one, "provider")}`]),
  );
  return { candidates, reasons };
}

/** ` (operator …, provider …)` where the registrar has the contract in other groups only; else empty. */
export const namingGroup = (candidates: readonly Contract[], group: Group): string =>
  candidates.length > 0 && ofGroup(candidates, group).length === 0
    ? ` (operator ${group.operator}, provider ${group.provider})`
    : "";
