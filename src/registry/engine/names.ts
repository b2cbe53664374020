/** The names of a table: each is checked against those that are known, and lines get their defaults. */
import { check, type Checked, type Mistake, type Path, quote } from "../../util/operator-file.js";
import { isExit, type TableOperation } from "../operation-names.js";
import type { AnyValue } from "../sdk/registry.js";
import type { EntryPart } from "./choice-context.js";
import {
  type Condition,
  type EntryDefinition,
  type EntrySource,
  type Extension,
  factoriesOf,
  type Line,
  LINE_KINDS,
  type Missing,
  type TemplateDefinition,
} from "./grammar.js";
import { PARTIES, termOf } from "./terms.js";
import type { LineKind, Table, TableLine, Vocabulary } from "./table-types.js";

/** What an absent contract means where the file says nothing: what moves something is refused without it. */
export const missingOf = (operation: TableOperation): Missing => (isExit(operation) ? "omit" : "refuse");

/** How many entries a request may look up, each by a contract of the one before: longer ones are a mistake. */
const MAX_CHAIN = 3;

const VALUES = ["registrar", "instrument", "account"];
const STANDARD_ROLES = ["sender", "receiver", "executor", "holder", "party", "provider", "operator"];
/** A request has several of each. */
const SEVERAL: ReadonlySet<string> = new Set(["holder", "party"]);
const METHODS = {
  entry: "value",
  disclosure: "disclose",
  require: "require",
  exists: "exists",
  archived: "has",
} as const satisfies Readonly<Record<Exclude<LineKind, "constant">, keyof EntryPart>>;

interface LineDefaults {
  readonly missing?: Missing | undefined;
  readonly key?: string | undefined;
  readonly outer?: Pick<Line, "if" | "unless"> | undefined;
}

export const list = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];

/** Checks the names of a file against those that are known, and fills in the defaults of its lines. */
export class Names {
  #known: Pick<Table, "entries" | "parts">;
  /** By their paths: a line of several operations has a mistake once. */
  readonly #mistakes = new Map<string, Mistake>();

  /** `before`: what the base of the file has. */
  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly templates: Readonly<Record<string, TemplateDefinition>>,
    before: Pick<Table, "entries" | "parts"> = { entries: {}, parts: vocabulary.parts },
  ) {
    this.#known = before;
  }

  /** The table that was read with these names, unless there are mistakes. */
  checked(table: Table): Checked<Table> {
    return this.#mistakes.size > 0 ? { mistakes: [...this.#mistakes.values()] } : { value: table };
  }

  report(path: Path, message: string): void {
    const key = JSON.stringify(path);
    if (!this.#mistakes.has(key)) this.#mistakes.set(key, { path, message });
  }

  known(names: object, given: string, what: string, at: Path): void {
    if (Object.hasOwn(names, given)) return;
    const expected = Object.keys(names).join(", ");
    const named = given.length > 100 ? quote(given) : given;
    this.report(at, `${what} ${named} is not defined here${expected === "" ? "" : `: there are ${expected}`}`);
  }

  /** The entries with those that were known before. */
  entries(definitions: Readonly<Record<string, EntryDefinition>>): Pick<Table, "entries" | "parts"> {
    const { functions, facts } = this.vocabulary;
    const entries: Record<string, EntrySource> = { ...this.#known.entries };
    const parts = new Map(this.#known.parts);
    for (const [id, definition] of Object.entries(definitions)) {
      const at = ["entries", id];
      const { template, function: named, with: given = {} } = definition;
      if (Object.hasOwn(entries, id) || parts.has(id))
        this.report(at, "must have another name: there is an entry of this name already");
      else if (Object.hasOwn(facts, id) || id === "meta")
        this.report(at, "must have another name: this one is a value or a condition of every request");
      if (template !== undefined) entries[id] = { ...definition, template };
      if (named === undefined) continue;
      const known = functions[named];
      this.known(functions, named, "function", [...at, "function"]);
      if (known === undefined) continue;
      const { mistakes = [], value } = check(known.arguments, given);
      for (const { path, message } of mistakes) this.report([...at, "with", ...path], message);
      if (mistakes.length === 0) parts.set(id, known.make(value));
    }
    this.#known = { entries, parts };
    for (const id of Object.keys(definitions)) this.#checkEntry(id, entries[id]);
    return this.#known;
  }

  /** What is not found by its id has to be stored. */
  stored(template: string, at: Path): void {
    if (this.#isReadById(template))
      this.report(at, `must be a template that is stored, but ${template} is read by id: for entries with byId`);
  }

  #checkEntry(id: string, definition: EntrySource | undefined): void {
    if (definition === undefined) return;
    const { entries } = this.#known;
    const { template, or = [], byId, find = {}, value = "contract-id" } = definition;
    const at = (field: string): Path => ["entries", id, field];
    for (const other of foundBy(definition))
      this.known(entries, other, "entry", at(byId === undefined ? "find" : "byId"));
    if (chainOf(entries, id) > MAX_CHAIN)
      this.report(["entries", id], `is found by a chain of more than ${MAX_CHAIN} entries`);
    for (const one of [template, ...or])
      this.known(this.templates, one, "template", at(one === template ? "template" : "or"));
    if (byId === undefined)
      for (const one of [template, ...or]) this.stored(one, at(one === template ? "template" : "or"));
    if ([template, ...or].some((one) => this.#isReadById(one)))
      for (const one of foundBy(definition)) this.#checkLeads(one, at("byId"));
    const terms = Object.values(find).map((text) => termOf(text).term);
    for (const [path, text] of Object.entries(find)) this.#checkTerm(termOf(text).term, [...at("find"), path]);
    const parties = [...new Set(terms)].filter((term) => PARTIES.has(term));
    if (parties.length > 1) this.report(at("find"), "must have at most one field that is a party of the request");
    if (value === "contract-id" && terms.some((term) => SEVERAL.has(term)))
      this.report(at("value"), "must be list or map, because a request may have several such parties");
    if (value === "map" && parties.length > 0 && terms.includes("instrument"))
      this.report(at("value"), "must be list, because a request may have several instruments for a party");
  }

  /** What an answer reads by id is known before it: by ids, of contracts that are stored. */
  #checkLeads(id: string, at: Path, before = 0): void {
    const definition = this.#known.entries[id];
    if (definition === undefined || before > MAX_CHAIN) return;
    const { template, or = [], byId } = definition;
    if (byId === undefined || [template, ...or].some((one) => this.#isReadById(one)))
      this.report(at, `must be a reference of the request, or of an entry that has byId and is stored: ${id} is not`);
    for (const one of foundBy(definition)) this.#checkLeads(one, at, before + 1);
  }

  #isReadById(template: string): boolean {
    return this.templates[template]?.read !== undefined;
  }

  #checkTerm(term: string, at: Path): void {
    if (term.startsWith("meta.") || term.includes(".")) return;
    const roles = Object.values(this.templates).flatMap(({ choices, roles: named = {} }) =>
      choices === undefined ? [] : Object.keys(named),
    );
    const values = [...new Set([...VALUES, ...STANDARD_ROLES, ...roles])];
    if (!values.includes(term))
      this.report(
        at,
        `must be a value of the request, but is ${quote(term)}: there are ${values.join(", ")}, meta.<key>`,
      );
  }

  /** What a file says besides its lists. Call it after `entries`. */
  rules({ factory, instruments, direct }: Pick<Extension, "factory" | "instruments" | "direct">): void {
    if (factory !== undefined)
      for (const [operation, { template }] of factoriesOf(factory)) {
        const at = "template" in factory ? ["factory", "template"] : ["factory", operation, "template"];
        this.known(this.templates, template, "template", at);
        this.stored(template, at);
      }
    if (typeof instruments === "object" && "template" in instruments) {
      this.known(this.templates, instruments.template, "template", ["instruments", "template"]);
      this.stored(instruments.template, ["instruments", "template"]);
    }
    if (direct !== undefined) this.known(this.#known.entries, direct, "entry", ["direct"]);
  }

  /** A line of an operation, which it may have. */
  line(written: Line, at: Path, operation: TableOperation, { missing: ofRow, key, outer }: LineDefaults): TableLine {
    const kind = LINE_KINDS.find((one) => written[one] !== undefined) as LineKind;
    const { of, disclose, constant } = written;
    const name = kind === "constant" ? kind : (written[kind] ?? "");
    if (kind !== "constant") this.#checkPart(name, METHODS[kind], [...at, kind]);
    const own = list(written.key);
    const keys = own.length === 0 && kind === "entry" ? list(key) : own;
    if (keys.length === 0 && kind !== "disclosure" && kind !== "require") this.report(at, "must have a key");
    const missing = written.missing ?? ofRow ?? missingOf(operation);
    if (missing === "refuse" && isExit(operation) && (kind === "entry" || kind === "disclosure"))
      this.report(
        written.missing === undefined ? at : [...at, "missing"],
        "must not be refuse: reject, withdraw and cancel must be possible without it",
      );
    for (const word of ["if", "unless"] as const) this.conditions(list<Condition>(written[word]), [...at, word]);
    return {
      kind,
      name,
      keys: keys.map((one) => one.replaceAll("*", name)),
      hasOwnKeys: own.length > 0,
      missing,
      if: [...list<Condition>(outer?.if), ...list<Condition>(written.if)],
      unless: [...list<Condition>(outer?.unless), ...list<Condition>(written.unless)],
      ...(of !== undefined && { of }),
      ...(disclose !== undefined && { disclose }),
      // The form has no value of another type for a tag.
      ...(constant !== undefined && { constant: constant as AnyValue }),
    };
  }

  conditions(conditions: readonly Condition[], at: Path): void {
    const { facts } = this.vocabulary;
    const { entries, parts } = this.#known;
    for (const one of conditions) {
      if (typeof one !== "string" || Object.hasOwn(facts, one) || Object.hasOwn(entries, one)) continue;
      if (parts.get(one)?.has !== undefined) continue;
      const names = [...Object.keys(facts), ...Object.keys(entries)].join(", ");
      this.report(at, `must be ${names}, or a map with a package, but is ${quote(one)}`);
    }
  }

  #checkPart(name: string, method: keyof EntryPart, at: Path): void {
    const { entries, parts } = this.#known;
    const part = parts.get(name);
    if (Object.hasOwn(entries, name) || part?.[method] !== undefined) return;
    if (part === undefined) {
      const names = [...Object.keys(entries), ...parts.keys()];
      return this.known(Object.fromEntries(names.map((one) => [one, one])), name, "entry", at);
    }
    const kinds = Object.entries(METHODS).flatMap(([kind, one]) => (part[one] === undefined ? [] : kind));
    this.report(at, `must be an entry that can be so, but ${name} can be ${kinds.join(", ")}`);
  }
}

/** The entries by whose contracts an entry is found. */
export const foundBy = ({ byId = "", find = {} }: Pick<EntryDefinition, "byId" | "find">): readonly string[] =>
  [byId, ...Object.values(find).map((text) => termOf(text).term)].flatMap((term) =>
    term.includes(".") && !term.startsWith("meta.") ? term.split(".", 1) : [],
  );

/** Infinity for one that depends on itself. */
function chainOf(entries: Readonly<Record<string, EntryDefinition>>, id: string, before = 0): number {
  const definition = entries[id];
  if (definition === undefined) return 0;
  if (before > MAX_CHAIN) return Infinity;
  return 1 + Math.max(0, ...foundBy(definition).map((one) => chainOf(entries, one, before + 1)));
}
