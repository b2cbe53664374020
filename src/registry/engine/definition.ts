/** The form of a registry file, docs/your-own-registry.md. Its JSON schema, for editors, is made of this one. */
import { z } from "zod";
import {
  check,
  type Checked,
  integer,
  type Mistake,
  mustBe,
  parseOperatorFile,
  textOf,
} from "../../util/operator-file.js";
import { PATH } from "./paths.js";

const name = textOf(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/, "a name of letters, digits, - and _ that begins with a letter");
/** Fields of a payload with dots between them; `*` stands for each element of a list, or each value of a map. */
const path = textOf(
  PATH,
  "a path such as transfer.sender, allocation.legs.*.receiver, keys(preapprovals), first(holdings) or hint(admin)",
);
const oneOrMore = <T extends z.ZodType>(one: T, expected: string) =>
  z.union([one, z.array(one).min(1)], mustBe(expected));
const paths = oneOrMore(path, "a path, or a list of paths");

const CHOICES = ["transfer-instruction", "allocation", "allocation-instruction"] as const;

export const templateForm = z.strictObject({
  /** `Module:Entity`, behind the module of the file. */
  name: z.string().min(1),
  /** The package, where it is not that of the file. */
  package: z.string().min(1).optional(),
  /** A field with the payload that the other paths are in: a contract of version 1 that wraps one of version 2. */
  at: path.optional(),
  /** The party whose contract it is. Without it, it is one of every registrar. */
  registrar: path.optional(),
  /** The choices of the token standard that are made on it. */
  choices: z.enum(CHOICES).optional(),
  /** Parties by their role, such as sender, receiver, executor. */
  roles: z.record(name, paths).optional(),
  /** Accounts of version 2 of the token standard, or parties; `own` are those of the parties who act. */
  accounts: z.record(name, paths).optional(),
  /** Contract ids, by what they are of. */
  refs: z.record(name, paths).optional(),
  /** Fields that are true or false. */
  flags: z.record(name, path).optional(),
  /** The instruments that it is about; by default that of the standard's transfer or transfer leg. */
  instrument: paths.optional(),
  /** When it begins and ends. Outside of these times it is not found. */
  from: path.optional(),
  until: path.optional(),
  /** When an instruction can no longer be accepted or executed. It is still found: `check` warns of it. */
  deadline: path.optional(),
  /** Seconds before its end in which it is not used any more. */
  margin: integer(0, 86_400).optional(),
  /** Of several the one with the highest value, a number or a time; one without a value counts as the highest. */
  newest: path.optional(),
  /** Fields that every contract has: one without them is reported, and not used. */
  requires: paths.optional(),
  /** Only contracts that have this field are stored. */
  keep: path.optional(),
  /** What a contract adds to the total supply of an instrument, stored or not. */
  supply: z.strictObject({ instrument: path, amount: path }).optional(),
  /** Begins the codes of errors about it, `contract` by default: `contract-missing`, `contract-moving`. */
  kind: name.optional(),
});

/** Where a contract is looked for: by its id, or by fields of its payload that equal values of the request. */
const find = {
  template: name,
  /** Payload path -> value of the request. Without it, and without `byId`, by the registrar alone. */
  find: z.record(path, z.string().min(1)).optional(),
  /** References of the request, or of an entry that was found: `holdings`, `allocations.holdings`. */
  byId: z.string().min(1).optional(),
  /** Further templates of which a contract with this id may be. */
  or: z.array(name).min(1).optional(),
  /** Several are a mistake on the ledger: 409. */
  unique: z.boolean().optional(),
};

export const entryForm = z
  .strictObject({
    ...find,
    /** Whether the request is answered without it; otherwise 404. */
    optional: z.boolean().optional(),
    value: z.enum(["contract-id", "list", "map"]).optional(),
    /** Of accounts, only those that have a provider. */
    only: z.literal("provider").optional(),
  })
  .refine((one) => one.find === undefined || one.byId === undefined, "must have find or byId, not both");

const anyValue = z.strictObject({
  tag: z.enum(["AV_Text", "AV_Int", "AV_Decimal", "AV_Date", "AV_Time", "AV_RelTime", "AV_Party", "AV_Bool"]),
  value: z.union([z.string(), z.boolean()]),
});

const KINDS = ["entry", "disclosure", "require", "exists", "archived", "constant", "include"] as const;
const WITH_KEY: ReadonlySet<string> = new Set(["entry", "exists", "archived", "constant"]);

/** One of KINDS, and how it is written. */
const line = z
  .strictObject({
    /** Writes the entry under the keys, and discloses its contracts. */
    entry: name.optional(),
    /** Discloses the contracts of an entry. */
    disclosure: name.optional(),
    /** 404 without the entry. */
    require: name.optional(),
    /** Writes whether the contract exists, and discloses it. */
    exists: name.optional(),
    /** Writes whether the contract does not exist any more. */
    archived: name.optional(),
    constant: anyValue.optional(),
    /** The lines of another operation. */
    include: z.string().optional(),
    key: oneOrMore(z.string().min(1), "a key, or a list of keys").optional(),
    /** The accounts that count for it; `own` by default. */
    of: z.array(name).min(1).optional(),
    /** For `exists`: false where its caller sees the contract. */
    disclose: z.boolean().optional(),
    /** Only where this entry is found. */
    if: name.optional(),
    /** Not for a transfer to oneself, or where this entry is found. */
    unless: z.string().min(1).optional(),
  })
  .superRefine((value, context) => {
    const given = KINDS.filter((kind) => value[kind] !== undefined);
    if (given.length !== 1)
      context.addIssue(`must have one of ${KINDS.join(", ")}, but has ${given.join(" and ") || "none"}`);
    else if (WITH_KEY.has(given[0] ?? "") !== (value.key !== undefined))
      context.addIssue(value.key === undefined ? "must have a key" : `must have no key: ${given[0]} writes none`);
  });

export const OPERATIONS = [
  "transfer-factory",
  "allocation-factory",
  "settlement-factory",
  "transfer-instruction/accept",
  "transfer-instruction/reject",
  "transfer-instruction/withdraw",
  "allocation-instruction/accept",
  "allocation-instruction/withdraw",
  "allocation/execute-transfer",
  "allocation/withdraw",
  "allocation/cancel",
] as const;

const instruments = z.union(
  [
    z.array(z.string().min(1)).min(1),
    z.literal("file"),
    z.strictObject({ template: name, list: path }),
    z.strictObject({
      template: name,
      id: path,
      name: path.optional(),
      symbol: path.optional(),
      decimals: path.optional(),
    }),
  ],
  mustBe("a list of ids, the word file, or a template with the path of a list or of an id"),
);

export const registryFile = z.strictObject({
  name: z.string().min(1),
  /** The package of the templates. */
  package: z.string().min(1),
  /** What the names of the templates begin with. */
  module: z.string().optional(),
  /** The versions of the token standard that the package implements. */
  versions: z
    .array(z.enum(["v1", "v2"]))
    .min(1)
    .optional(),
  templates: z.record(name, templateForm),
  factory: z.strictObject(find),
  instruments,
  /** The entry whose presence makes a transfer direct: without it the receiver gets an offer. */
  direct: name.optional(),
  entries: z.record(name, entryForm).optional(),
  /** What each operation writes, in order; `*` before all of them. */
  operations: z.partialRecord(z.enum(["*", ...OPERATIONS]), z.array(line)).optional(),
});

export type RegistryFile = z.infer<typeof registryFile>;
export type TemplateDefinition = Omit<z.infer<typeof templateForm>, "choices"> & {
  /** Registries in TypeScript have choices of their own. */
  readonly choices?: string | undefined;
};
export type EntryDefinition = z.infer<typeof entryForm>;
export type InstrumentsDefinition = z.infer<typeof instruments>;
export type Line = z.infer<typeof line>;
export type Operation = (typeof OPERATIONS)[number];

/** How many entries a request may look up, each by a contract of the one before: longer ones are a mistake. */
const MAX_CHAIN = 3;

/** The entries by whose contracts an entry is found. */
const foundBy = ({ byId = "", find: terms = {} }: Pick<EntryDefinition, "byId" | "find">): readonly string[] =>
  [byId, ...Object.values(terms)].flatMap((term) => (term.includes(".") ? term.split(".", 1) : []));

/** Infinity for one that depends on itself. */
function chainOf(entries: Readonly<Record<string, EntryDefinition>>, id: string, before = 0): number {
  const definition = entries[id];
  if (definition === undefined) return 0;
  if (before > MAX_CHAIN) return Infinity;
  return 1 + Math.max(0, ...foundBy(definition).map((one) => chainOf(entries, one, before + 1)));
}

/** The mistakes that the form of a file does not show: names that are not defined, each with its path. */
export function mistakesOf(file: RegistryFile): Mistake[] {
  const found: Mistake[] = [];
  const { templates, entries = {}, operations = {}, direct, factory, instruments: listed } = file;
  const known = (names: object, given: string, what: string, at: (string | number)[]) => {
    if (Object.hasOwn(names, given)) return;
    const expected = Object.keys(names).join(", ");
    found.push({
      path: at,
      message: `${what} ${given} is not defined here${expected === "" ? "" : `: there are ${expected}`}`,
    });
  };
  known(templates, factory.template, "template", ["factory", "template"]);
  if (typeof listed === "object" && !Array.isArray(listed))
    known(templates, listed.template, "template", ["instruments", "template"]);
  if (direct !== undefined) known(entries, direct, "entry", ["direct"]);
  for (const [id, one] of Object.entries(entries)) {
    for (const other of foundBy(one))
      known(entries, other, "entry", ["entries", id, one.byId === undefined ? "find" : "byId"]);
    if (chainOf(entries, id) > MAX_CHAIN)
      found.push({ path: ["entries", id], message: `is found by a chain of more than ${MAX_CHAIN} entries` });
    for (const template of [one.template, ...(one.or ?? [])])
      known(templates, template, "template", ["entries", id, template === one.template ? "template" : "or"]);
  }
  for (const [operation, lines] of Object.entries(operations))
    for (const [index, one] of lines.entries()) {
      const at = ["operations", operation, index];
      for (const field of ["entry", "disclosure", "require", "exists", "archived", "if"] as const)
        if (one[field] !== undefined) known(entries, one[field], "entry", [...at, field]);
      if (one.unless !== undefined && one.unless !== "self") known(entries, one.unless, "entry", [...at, "unless"]);
      if (one.include === undefined) continue;
      known(operations, one.include, "operation", [...at, "include"]);
      if (operations[one.include as Operation]?.some(({ include }) => include !== undefined) === true)
        found.push({ path: [...at, "include"], message: `operation ${one.include} includes another one itself` });
    }
  return found;
}

export type Loaded<T> =
  | { readonly file: T; readonly problems?: undefined }
  /** Each as `line:column: path: what is wrong`, in the order of the file. */
  | { readonly file?: undefined; readonly problems: readonly string[] };

export const checkRegistryFile = (value: unknown): Checked<RegistryFile> => check(registryFile, value, mistakesOf);

export const parseRegistryFile = (content: Uint8Array | string): Loaded<RegistryFile> =>
  loadForm(content, registryFile, mistakesOf);

/** `more` finds the mistakes that the form does not show. */
export function loadForm<T>(
  content: Uint8Array | string,
  form: z.ZodType<T>,
  more: (file: T) => readonly Mistake[],
): Loaded<T> {
  const { value, problems } = parseOperatorFile(content, (file) => check(form, file, more));
  return problems === undefined ? { file: value } : { problems };
}
