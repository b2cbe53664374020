/** One run of a table: looks contracts up, checks them, and writes the answer. */
import { combineErrors, notFound, type RegistryError } from "../../domain/errors.js";
import { hasUnreadable } from "../../store/port.js";
import type { AnyValue, ContextAnswer, NamedValue, RequestContext } from "../sdk/registry.js";
import { candidatesOf, choose, type Found, type Table, templateOf, unreadable } from "./candidates.js";
import { missing, type Needed, neededContract, notOnSynchronizer } from "../needed.js";
import type { EntryDefinition, Line, Operation } from "./definition.js";
import type { Subject } from "./subject.js";
import { accountKey, type TableTemplate } from "./templates.js";

/** A look-up that a request makes: the values, and what was found for them. */
interface Lookup {
  readonly values: readonly string[];
  readonly contract: Found | undefined;
}

const OWN = ["own"];

export class TableAnswer {
  readonly #table: Table;
  readonly #context: RequestContext;
  readonly #subject: Subject;
  /** That of all contracts of the answer. */
  readonly #synchronizer: string;
  readonly #values: NamedValue[] = [];
  readonly #disclosed = new Set<Found>();
  readonly #failures: RegistryError[] = [];
  readonly #found = new Map<string, readonly Lookup[]>();
  /** Entries that the answer leaves out, or is another for, where they are not found. */
  readonly #optional = new Set<string>();
  /** Those of which it says, or asks, whether they exist. */
  readonly #decisive = new Set<string>();

  constructor(table: Table, context: RequestContext, subject: Subject, synchronizer: string) {
    this.#table = table;
    this.#context = context;
    this.#subject = subject;
    this.#synchronizer = synchronizer;
  }

  /** Whether the request has this entry. */
  has(entry: string): boolean {
    this.#decisive.add(entry);
    return this.#lookUp(entry).some(({ contract }) => contract !== undefined);
  }

  disclose(contract: Found): void {
    this.#disclosed.add(contract);
    this.#context.recorder?.disclosed(contract);
  }

  /** Why no answer on the synchronizer can have the entry; undefined if one can. */
  problemOf(entry: string): RegistryError | undefined {
    this.#select(entry);
    return this.#failures.pop();
  }

  /** Writes the lines of an operation. All that is missing is collected: the error names every cause. */
  write(operation: Operation): void {
    const { operations = {} } = this.#table.file;
    for (const line of [...(operations["*"] ?? []), ...(operations[operation] ?? [])]) this.#line(line);
  }

  /** Throws RegistryError for what is missing or cannot be disclosed, or is not known to be missing. */
  build(): ContextAnswer {
    // Before any error: a store notes what is looked up here.
    const unproven = this.#unproven();
    const [first, ...others] = this.#failures;
    if (first !== undefined) throw combineErrors(first, others);
    if (unproven !== undefined) throw unproven;
    return { values: this.#values, disclosed: [...this.#disclosed] };
  }

  #line({ key = [], of, include, disclose, ...line }: Line): void {
    // First: a transfer to oneself needs no look-up.
    if (line.unless !== undefined && this.#holds(line.unless)) return;
    if (line.if !== undefined && !this.has(line.if)) return;
    const keys = typeof key === "string" ? [key] : key;
    if (line.entry !== undefined) this.#entry(line.entry, keys, of);
    else if (line.disclosure !== undefined)
      this.#select(line.disclosure, of).forEach((contract) => this.disclose(contract));
    else if (line.require !== undefined) this.#require(line.require);
    else if (line.exists !== undefined) this.#exists(line.exists, keys, disclose);
    else if (line.archived !== undefined) this.#set(keys, { tag: "AV_Bool", value: !this.has(line.archived) });
    else if (line.constant !== undefined) this.#set(keys, line.constant as AnyValue);
    // The file was checked: an operation that is included includes none itself.
    else for (const inner of this.#table.file.operations?.[include as Operation] ?? []) this.#line(inner);
  }

  #holds(condition: string): boolean {
    return condition === "self" ? this.#subject.isSelf : this.has(condition);
  }

  #entry(name: string, keys: readonly string[], of?: readonly string[]): void {
    this.#context.recorder?.entry(keys);
    const { value: form = "contract-id" } = this.#definition(name);
    const contracts = this.#select(name, of);
    const [only] = contracts;
    if (only === undefined) return;
    if (form === "contract-id") this.#set(keys, this.#reference(only));
    else if (form === "list") this.#set(keys, { tag: "AV_List", value: contracts.map((one) => this.#reference(one)) });
    else {
      const entries = this.#lookUp(name, of).flatMap(({ values, contract }): NamedValue[] =>
        contract === undefined ? [] : [{ name: values.join(", "), value: this.#reference(contract) }],
      );
      this.#set(keys, { tag: "AV_Map", value: entries });
    }
  }

  #reference(contract: Found): AnyValue {
    this.disclose(contract);
    return { tag: "AV_ContractId", value: contract.contractId, contract };
  }

  #set(keys: readonly string[], value: AnyValue): void {
    for (const name of keys) this.#values.push({ name, value });
  }

  #exists(entry: string, keys: readonly string[], disclose = true): void {
    const contracts = this.#select(entry);
    if (disclose) for (const contract of contracts) this.disclose(contract);
    this.#set(keys, { tag: "AV_Bool", value: this.has(entry) });
  }

  /**
   * Not to find a contract is no proof that it does not exist. It may be one that could not be parsed: "unavailable". Or the
   * ledger is ahead: "not-found", with which the request waits until the store has all that the ledger had when it came.
   */
  #unproven(): RegistryError | undefined {
    const { view, hasReachedEnd } = this.#context;
    const unknown: { readonly entry: string; readonly contractId: string }[] = [];
    for (const entry of new Set([...this.#decisive, ...this.#optional])) {
      const unfound = this.#lookUpsOf(entry).filter(({ contract }) => contract === undefined);
      if (unfound.length === 0) continue;
      const { byId, ...definition } = this.#definition(entry);
      if (byId === undefined) {
        const template = templateOf(this.#table, definition);
        if (hasUnreadable(view, template)) return unreadable(template, entry);
        continue;
      }
      const mayBeAhead = this.#decisive.has(entry) || (this.#subject.hasOwnRefs && !byId.includes("."));
      for (const contractId of unfound.flatMap(({ values }) => values)) {
        const template = this.#templatesOf(entry).find((one) => hasUnreadable(view, one, contractId));
        if (template !== undefined) return unreadable(template, entry, contractId);
        if (mayBeAhead && !hasReachedEnd) unknown.push({ entry, contractId });
      }
    }
    // Last: a store that lacks anything ends the run here.
    const first = unknown.find(({ contractId }) => !view.wasArchived(contractId));
    if (first === undefined) return undefined;
    const { entry, contractId } = first;
    return notFound(`contract ${contractId} (entry ${entry}) is not known here`, { about: { contractId } });
  }

  /** All that was looked up of an entry, for whatever accounts. */
  #lookUpsOf(entry: string): Lookup[] {
    return [...this.#found].flatMap(([id, lookups]) => (id.split(" ", 1)[0] === entry ? lookups : []));
  }

  #templatesOf(entry: string): TableTemplate[] {
    const { template, or = [] } = this.#definition(entry);
    return [template, ...or].map((one) => templateOf(this.#table, { template: one }));
  }

  #require(name: string): void {
    for (const { values, contract } of this.#lookUp(name))
      if (contract === undefined) this.#failures.push(this.#missing(name, values));
  }

  /** The contracts of an entry, each once, that are on the synchronizer. */
  #select(name: string, of?: readonly string[]): Found[] {
    const { optional = false } = this.#definition(name);
    if (optional) this.#optional.add(name);
    const selected = new Set<Found>();
    for (const { values, contract } of this.#lookUp(name, of)) {
      if (contract === undefined) {
        if (!optional) this.#failures.push(this.#missing(name, values));
      } else if (contract.synchronizerId === this.#synchronizer) selected.add(contract);
      else this.#failures.push(notOnSynchronizer(contract, this.#synchronizer, this.#needed(name, values)));
    }
    return [...selected];
  }

  #definition(name: string): EntryDefinition {
    const definition = this.#table.file.entries?.[name];
    if (definition === undefined) throw new Error(`entry ${name} is not defined`);
    return definition;
  }

  #lookUp(name: string, of: readonly string[] = OWN): readonly Lookup[] {
    const id = `${name} ${of.join()}`;
    const known = this.#found.get(id);
    if (known !== undefined) return known;
    const definition = this.#definition(name);
    const lookups = this.#lookUpAll(name, definition, of);
    this.#found.set(id, lookups);
    return lookups;
  }

  #lookUpAll(name: string, definition: EntryDefinition, of: readonly string[]): Lookup[] {
    const { view, recorder } = this.#context;
    const template = templateOf(this.#table, definition);
    const lookups: Lookup[] = [];
    const note = (values: readonly string[], candidates: readonly Found[], contract: Found | undefined) => {
      lookups.push({ values, contract });
      recorder?.search({
        needed: { name: `the ${template.qualifiedName} for ${values.join(", ")}`, template: template.qualifiedName },
        candidates,
        chosen: contract,
        required: definition.optional !== true && this.#isWritten(name),
      });
    };
    if (definition.byId !== undefined) {
      const templates = this.#templatesOf(name);
      for (const contractId of this.#idsOf(definition.byId)) {
        const contract = templates.map((one) => view.byId(one, contractId)).find((one) => one !== undefined);
        note([contractId], contract === undefined ? [] : [contract], contract);
      }
      return lookups;
    }
    const find = Object.entries(definition.find ?? {});
    const terms = find.map(([, term]) => this.#valuesOf(term, definition, of));
    for (const values of combinations(terms)) {
      const candidates = candidatesOf(this.#table, this.#context, definition, this.#subject.registrar, values);
      note(values, candidates, choose(this.#table, this.#context, definition, candidates, this.#synchronizer));
    }
    return lookups;
  }

  /** Whether a line needs the entry itself: others only lead to further ones. */
  #isWritten(name: string): boolean {
    return Object.values(this.#table.file.operations ?? {}).some((lines) =>
      lines.some(({ entry, disclosure, require }) => [entry, disclosure, require].includes(name)),
    );
  }

  /** The contract ids of references, each once. */
  #idsOf(byId: string): readonly string[] {
    const [entry = "", ref] = byId.split(".");
    if (ref === undefined) return [...new Set(this.#subject.refs[entry])];
    return [...new Set(this.#lookUpOther(entry).flatMap(({ contract }) => contract?.fields.refs[ref] ?? []))];
  }

  /** The values of the request for a field. */
  #valuesOf(term: string, { only }: EntryDefinition, of: readonly string[]): readonly string[] {
    const { registrar, instruments, accounts, roles } = this.#subject;
    if (term === "registrar") return [registrar];
    if (term === "instrument") return instruments;
    if (term === "account") {
      const named = of.flatMap((group) => accounts[group] ?? []);
      return [...new Set(named.filter(({ provider }) => only === undefined || provider !== undefined).map(accountKey))];
    }
    const [entry = "", role] = term.split(".");
    if (role === undefined) return [...new Set(roles[entry])];
    const found = this.#lookUpOther(entry).flatMap(({ contract }) => contract?.fields.roles[role] ?? []);
    return [...new Set(found)];
  }

  /** For values of it: without it nothing is looked for. */
  #lookUpOther(entry: string): readonly Lookup[] {
    this.#optional.add(entry);
    return this.#lookUp(entry);
  }

  #missing(entry: string, values: readonly string[]): RegistryError {
    return missing(this.#needed(entry, values));
  }

  #needed(entry: string, values: readonly string[]): Needed {
    const { registrar } = this.#subject;
    const { qualifiedName } = templateOf(this.#table, this.#definition(entry));
    const forValues = values.length === 0 ? `of registrar ${registrar}` : `for ${values.join(", ")}`;
    return neededContract(`the ${qualifiedName} ${forValues} (entry ${entry})`, { registrar, template: qualifiedName });
  }
}

/** Every combination of one value of each list. */
function combinations(lists: readonly (readonly string[])[]): string[][] {
  let all: string[][] = [[]];
  for (const values of lists) all = all.flatMap((before) => values.map((value) => before.concat(value)));
  return all;
}
