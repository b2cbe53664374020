/** Entries that are found by their definition: by an id, or by fields of the payload that equal values of the request. */
import type { Contract } from "../../domain/contract.js";
import { refuse } from "../../domain/errors.js";
import type { Template } from "../../domain/template.js";
import type { View } from "../../state/port.js";
import { type Needed, notOnSynchronizer, notTold } from "../needed.js";
import type { AnyValue, RequestContext } from "../sdk/registry.js";
import type { ChoiceContextBuilder, EntryArguments, EntryPart, RequestSubject } from "./choice-context.js";
import type { EntrySource } from "./grammar.js";
import { type ContractSelector, namingGroup, ofGroup, otherGroups } from "./selector.js";
import { lookupKey, type Named, type TableFields, type TableTemplate } from "./templates.js";
import { type FindTerm, type PartiesOf, termOf, termsOf } from "./terms.js";

export type Found = Contract<TableFields>;

/** A look-up that a request makes: the values, the candidates, and which of them counts. */
interface Lookup {
  readonly values: readonly string[];
  /** The party for which it is made; undefined if the entry is not found by a party. */
  readonly party: string | undefined;
  /** Those of other groups too. */
  readonly all: readonly Found[];
  readonly candidates: readonly Found[];
  /** On the synchronizer of the answer. */
  readonly chosen: Found | undefined;
  /** What the ledger has said of a contract that is not stored; "unasked" beside requests. */
  readonly onLedger?: "known" | "unread" | "unasked" | undefined;
}

export interface EntryOptions {
  readonly templates: ReadonlyMap<string, TableTemplate>;
  /** The other entries: a contract of one may lead to this one. */
  readonly entries: ReadonlyMap<string, TableEntry>;
  /**
   * What a contract means that an answer can do without and that is on another synchronizer: `refuse` is a conflict, and
   * that there is none must be known; with `omit` it is left out.
   */
  readonly elsewhere: "refuse" | "omit";
  readonly partiesOf: PartiesOf;
}

/** Which accounts count for a line: those of the parties who act. */
const OWN = ["own"];

export class TableEntry implements EntryPart {
  readonly #paths: readonly string[];
  readonly #terms: readonly FindTerm[];
  readonly #templates: readonly [TableTemplate, ...TableTemplate[]];
  readonly #readById: readonly TableTemplate[];

  constructor(
    readonly name: string,
    readonly definition: EntrySource,
    private readonly options: EntryOptions,
  ) {
    this.#paths = Object.keys(definition.find ?? {});
    this.#terms = Object.values(definition.find ?? {}).map(termOf);
    const { template, or = [] } = definition;
    this.#templates = [definedIn(options.templates, template), ...or.map((one) => definedIn(options.templates, one))];
    this.#readById = this.#templates.filter(({ isReadById = false }) => isReadById);
  }

  get isReadById(): boolean {
    return this.#readById.length > 0;
  }

  /** The value of the entry; undefined leaves it out. */
  value(...[builder, selector, subject, required, of]: EntryArguments): AnyValue | undefined {
    const { value: form = "contract-id", empty = false } = this.definition;
    // One contract id cannot stand for several instruments.
    if (form === "contract-id" && subject.instruments.length > 1 && this.#isFoundBy("instrument")) return undefined;
    const found = this.#select(selector, subject, required, of);
    if (form === "contract-id") {
      const [only] = found;
      return only && builder.reference(only.contract);
    }
    if (found.length === 0 && !empty) return undefined;
    // Several values may have one contract.
    if (form === "list") return builder.referenceAll([...new Set(found.map(({ contract }) => contract))]);
    const entries = found.map(({ lookup: { party, values }, contract }) => ({
      name: party ?? values.join(", "),
      value: builder.reference(contract),
    }));
    return { tag: "AV_Map", value: entries };
  }

  disclose(...[builder, ...line]: EntryArguments): void {
    for (const { contract } of this.#select(...line)) builder.disclose(contract);
  }

  /** Whether there is a contract, on any synchronizer. The answer depends on it. */
  has(selector: ContractSelector, subject: RequestSubject): boolean {
    const lookups = this.#lookUp(selector, subject, false);
    for (const lookup of lookups)
      if (lookup.candidates.length === 0 && !this.#isUntold(selector, lookup))
        this.#noteNegative(selector, subject, lookup, true);
    return lookups.some(({ candidates }) => candidates.length > 0);
  }

  /** As `has`. The contracts are those of an answer: one that is elsewhere refuses it. */
  exists(builder: ChoiceContextBuilder | undefined, selector: ContractSelector, subject: RequestSubject): AnyValue {
    for (const { contract } of this.#select(selector, subject, false)) builder?.disclose(contract);
    return { tag: "AV_Bool", value: this.has(selector, subject) };
  }

  /** "not-found" for each that does not exist. One that is elsewhere does. */
  require(selector: ContractSelector, subject: RequestSubject): void {
    for (const lookup of this.#lookUp(selector, subject, true))
      if (lookup.candidates.length === 0 && !this.#isUntold(selector, lookup))
        selector.missing([], true, () => this.#needed(selector, lookup));
  }

  /** The contracts, valid or not, with these values at the paths of the definition. */
  candidates(view: View, registrar: string, values: readonly string[]): readonly Found[] {
    const [template] = this.#templates;
    if (this.#paths.length === 0) return allOf(template, view, registrar);
    return view.byKey(template, lookupKey(this.#paths, template.hasRegistrar ? registrar : "", values));
  }

  /**
   * Those of the candidates that count, in order: valid now, of the highest rank or newest. Throws "conflict" where there
   * must be one only.
   */
  inOrder(context: RequestContext, candidates: readonly Found[]): readonly Found[] {
    const [{ isRanked, qualifiedName }] = this.#templates;
    const valid = validNow(context, candidates);
    if (this.definition.unique === true && valid.length > 1) {
      const ids = valid.map(({ contractId }) => contractId).join(", ");
      throw refuse("several-contracts", `only one ${qualifiedName} may exist, but there are several: ${ids}`);
    }
    return isRanked ? valid.toSorted(byRank) : valid;
  }

  /**
   * The contracts that an answer to a request with these references needs and the view lacks, of an entry that is read by id.
   * Those of other registrars too.
   */
  idsToRead(view: View, refs: Named<string> | undefined): readonly string[] {
    return this.#idsIn(view, refs).filter((id) => this.#stored(view, id) === undefined);
  }

  #idsIn(view: View, refs: Named<string> | undefined): readonly string[] {
    const [entry = "", ref] = (this.definition.byId ?? "").split(".");
    if (ref === undefined) return refs?.[entry] ?? [];
    const other = definedIn(this.options.entries, entry);
    return other.#idsIn(view, refs).flatMap((id) => other.#stored(view, id)?.fields.refs[ref] ?? []);
  }

  #stored(view: View, contractId: string): Found | undefined {
    for (const template of this.#templates) {
      const found = view.byId(template, contractId);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #isFoundBy(term: string): boolean {
    return this.#terms.some((one) => one.term === term);
  }

  /** The contracts on the synchronizer. What is missing refuses the answer where it is required. */
  #select(
    selector: ContractSelector,
    subject: RequestSubject,
    required: boolean,
    of?: readonly string[],
  ): { readonly lookup: Lookup; readonly contract: Found }[] {
    return this.#lookUp(selector, subject, required, of).flatMap((lookup) => {
      if (lookup.chosen !== undefined) return { lookup, contract: lookup.chosen };
      if (this.#isUntold(selector, lookup)) return [];
      // Where one is now that was created elsewhere, the ledger does not say.
      const isStored = lookup.onLedger === undefined;
      const isStrict = isStored && !required && !selector.allowsMissing && this.options.elsewhere === "refuse";
      if (isStrict && lookup.candidates.length === 0) this.#noteNegative(selector, subject, lookup, false);
      if (isStrict && lookup.candidates.length > 0) this.#refuse(selector, lookup);
      else selector.missing(lookup.candidates, required, () => this.#needed(selector, lookup));
      return [];
    });
  }

  /** Whether the ledger has said nothing of the contract, without which an answer is refused unless it allows that. */
  #isUntold(selector: ContractSelector, lookup: Lookup): boolean {
    const { onLedger, values } = lookup;
    if (onLedger !== "unread") return onLedger === "unasked";
    const [contractId = ""] = values;
    const { name } = this.#needed(selector, lookup);
    if (!selector.allowsUntold) selector.fail(notTold(name, contractId));
    else selector.context.recorder?.remark(`The participant has not told ${name} in time: it is left out.`);
    return true;
  }

  #refuse(selector: ContractSelector, lookup: Lookup): void {
    const [elsewhere] = lookup.candidates;
    if (elsewhere !== undefined)
      selector.fail(notOnSynchronizer(elsewhere, selector.synchronizer, this.#needed(selector, lookup)));
  }

  #noteNegative(selector: ContractSelector, subject: RequestSubject, { values }: Lookup, isDecisive: boolean): void {
    const { byId } = this.definition;
    if (this.options.elsewhere === "omit" || this.isReadById) return;
    selector.noteNegative({
      templates: this.#templates,
      contractId: byId === undefined ? undefined : values[0],
      entry: this.name,
      mayBeAhead: byId !== undefined && (isDecisive || (subject.hasOwnRefs === true && !byId.includes("."))),
    });
  }

  /** Once for each answer: several lines have an entry. */
  #lookUp(
    selector: ContractSelector,
    subject: RequestSubject,
    required: boolean,
    of: readonly string[] = OWN,
  ): readonly Lookup[] {
    const id = of === OWN ? this.name : `${this.name} ${of.join()}`;
    return selector.keep(id, () => this.#lookUpAll(selector, subject, required, of));
  }

  #lookUpAll(selector: ContractSelector, subject: RequestSubject, required: boolean, of: readonly string[]): Lookup[] {
    const { byId } = this.definition;
    const { context, view, registrar, group } = selector;
    const lookup = (
      values: readonly string[],
      party: string | undefined,
      all: readonly Found[],
      onLedger?: Lookup["onLedger"],
    ): Lookup => {
      const candidates = ofGroup(all, group);
      const chosen = selector.newest(candidates);
      if (context.recorder !== undefined) {
        const needed = this.#needed(selector, { values, party, all });
        const considered = candidates === all ? undefined : otherGroups(all, group);
        context.recorder.search({ needed, candidates, ...considered, chosen, required });
      }
      return { values, party, all, candidates, chosen, onLedger };
    };
    if (byId !== undefined) {
      const ids = this.#idsOf(byId, selector, subject);
      return ids.map((id) => {
        const stored = this.#stored(view, id);
        if (stored !== undefined || !this.isReadById)
          return lookup([id], undefined, stored === undefined ? [] : this.#ofRegistrar(stored, registrar));
        const told = this.#readById.map((one) => context.onLedger(one, id)).find((one) => one !== undefined);
        if (told === "unread" || told === "unasked") return lookup([id], undefined, [], told);
        return lookup([id], undefined, typeof told === "object" ? this.#ofRegistrar(told, registrar) : [], "known");
      });
    }
    const rolesOf = (entry: string, role: string) =>
      this.#other(entry, selector, subject).flatMap(({ fields }) => fields.roles[role] ?? []);
    const { partiesOf } = this.options;
    const request = { selector, subject, of, only: this.definition.only, partiesOf, rolesOf };
    return termsOf(this.#terms, request).map(({ values, party }) =>
      lookup(values, party, this.inOrder(context, this.candidates(view, registrar, values))),
    );
  }

  /** An id may lead to a contract of another registrar. */
  #ofRegistrar(found: Found, registrar: string): readonly Found[] {
    const isOurs = found.fields.registrar === registrar || this.#templates.every(({ hasRegistrar }) => !hasRegistrar);
    return isOurs ? [found] : [];
  }

  /** The contract ids of references, each once. */
  #idsOf(byId: string, selector: ContractSelector, subject: RequestSubject): readonly string[] {
    const [entry = "", ref] = byId.split(".");
    if (ref === undefined) return [...new Set(subject.refs?.[entry])];
    return [...new Set(this.#other(entry, selector, subject).flatMap(({ fields }) => fields.refs[ref] ?? []))];
  }

  /** The contracts of another entry, wherever they are: without them nothing is looked for. */
  #other(entry: string, selector: ContractSelector, subject: RequestSubject): readonly Found[] {
    const other = definedIn(this.options.entries, entry);
    return other.#lookUp(selector, subject, false).flatMap((lookup) => {
      if (lookup.candidates.length === 0) other.#noteNegative(selector, subject, lookup, false);
      return lookup.chosen ?? lookup.candidates[0] ?? [];
    });
  }

  #needed(
    { registrar, group }: ContractSelector,
    { values, party, all }: Omit<Lookup, "candidates" | "chosen">,
  ): Needed {
    const [{ kind = "contract", qualifiedName }] = this.#templates;
    const entity = kind === "contract" ? qualifiedName : qualifiedName.split(":")[1];
    const forValues = values.length === 0 ? `of registrar ${registrar}` : `for ${values.join(", ")}`;
    const ofEntry = kind === "contract" ? ` (entry ${this.name})` : "";
    const name = `the ${entity} ${forValues}${ofEntry}${namingGroup(all, group)}`;
    const contractId = this.definition.byId === undefined ? undefined : values[0];
    return { name, kind, registrar, party, contractId, template: qualifiedName };
  }
}

/** All contracts of a registrar, newest first. */
export const allOf = <F extends TableFields>(
  template: Template<F> & Pick<TableTemplate, "keyOf" | "hasRegistrar">,
  view: View,
  registrar: string,
): readonly Contract<F>[] => view.byKey(template, template.keyOf(template.hasRegistrar ? registrar : ""));

/** Those that have begun and not ended. The answer may change when another begins or one ends. */
export function validNow<F extends TableFields>(
  context: RequestContext,
  candidates: readonly Contract<F>[],
): readonly Contract<F>[] {
  const now = context.now * 1000;
  const isTimed = candidates.some(({ fields }) => fields.from !== undefined || fields.until !== undefined);
  if (!isTimed) return candidates;
  return candidates.filter(({ fields: { from, until }, template }) => {
    // Candidates are of templates of the table.
    const end = until === undefined ? undefined : until - (template as TableTemplate).margin;
    context.mayChangeAt([from, end].filter((time) => time !== undefined));
    return (from === undefined || from <= now) && (end === undefined || now < end);
  });
}

/** Highest first; what has no value is the highest. Equal ones stay in order, newest first. */
const byRank = (a: Found, b: Found): number => (b.fields.rank ?? Infinity) - (a.fields.rank ?? Infinity) || 0;

/** The definition was checked: what it names is there. */
function definedIn<T>(all: ReadonlyMap<string, T>, name: string): T {
  const found = all.get(name);
  if (found === undefined) throw new Error(`${name} is not defined`);
  return found;
}
