/**
 * The language of tables: registry files, the table of the Registry Utility, and files that extend one of them. The
 * titles and descriptions are the reference, docs/tables.md, and those of the JSON schema, for editors.
 */
import { z } from "zod";
import { integer, mustBe, once, report, textOf } from "../../util/operator-file.js";
import { INTERFACE_KINDS, TOKEN_INTERFACES } from "../../domain/token-interfaces.js";
import { FACTORIES, type Factory, OPERATIONS, operationsNamed } from "../operation-names.js";
import { PATH } from "./paths.js";
import { compareVersions, VERSION } from "./versions.js";

const name = textOf(
  /^[A-Za-z][A-Za-z0-9_-]{0,62}$/,
  "a name of letters, digits, - and _ that begins with a letter",
).meta({ title: "name" });
const path = textOf(
  PATH,
  "a path such as transfer.sender, allocation.legs.*.receiver, keys(preapprovals), first(holdings) or hint(admin)",
).meta({ title: "path" });
const oneOrMore = <T extends z.ZodType>(one: T, expected: string) =>
  z.union([one, z.array(one).min(1, mustBe(expected))], mustBe(expected));
const paths = oneOrMore(path, "a path, or a list of paths");
const text = z.string().min(1);

/** What choices are made on. */
const KINDS = [...new Set(OPERATIONS.flatMap((operation) => operation.split("/", 1)))].filter(
  (kind) => !kind.endsWith("-factory"),
);

const INTERFACES = INTERFACE_KINDS.flatMap((kind) => [
  kind,
  ...TOKEN_INTERFACES.filter((one) => one.kind === kind).map(({ version }) => `${kind}/${version}`),
]);
const implemented = z.enum(INTERFACES).meta({ title: "interface" });

export const templateForm = z
  .strictObject({
    name: text.optional().describe("`Module:Entity`, behind the `module` of the file"),
    implements: oneOrMore(implemented, `an interface of the token standard: ${INTERFACES.join(", ")}`)
      .optional()
      .describe(
        `interfaces of the token standard (${INTERFACE_KINDS.join(", ")}), as \`allocation\` or \`allocation/2\`: registrar, parties, accounts, instruments, \`holdings\` and deadline are those of the view, whose paths begin with \`view.\`; without \`name\`, of any package, signed by the registrar`,
      ),
    signed: z.literal("registrar").optional().describe("contracts count that their registrar has signed"),
    package: text.optional().describe("its package, where it is not that of the file"),
    at: path
      .optional()
      .describe("of a contract that wraps another: the field with the payload that the other paths are in"),
    registrar: path.optional().describe("the party whose contract it is; default: every registrar"),
    read: z
      .literal("by-id")
      .optional()
      .describe(
        "`by-id`: contracts are not stored; those that an answer names are read from the ledger by their ids, at most 500 for a request. For `byId` of entries only. One that the participant does not tell in time is 503, and left out of reject, withdraw and cancel and of lines with `missing: allow`. Of a file they are stored",
      ),
    choices: z.enum(KINDS).optional().describe("the operations that are made on it, by the beginning of their names"),
    roles: z.record(name, paths).optional().describe("parties by their role, such as sender, receiver, executor"),
    accounts: z
      .record(name, paths)
      .optional()
      .describe("accounts of version 2, or parties; `own` are those of the parties who act"),
    refs: z.record(name, paths).optional().describe("contract ids, by what they are of"),
    flags: z.record(name, path).optional().describe("fields that are true or false"),
    instrument: paths.optional().describe("its instruments; default: that of the standard's transfer or transfer leg"),
    from: path.optional().describe("when it begins: before, it is not found"),
    until: path.optional().describe("when it ends: from then on it is not found"),
    margin: integer(0, 86_400).optional().describe("seconds before its end in which it is not used any more"),
    deadline: path
      .optional()
      .describe("when an instruction can no longer be completed: `check` warns, it is still found"),
    newest: path
      .optional()
      .describe(
        "of several, the one with the highest number or time here counts, one without a value above all; default: the latest",
      ),
    requires: paths.optional().describe("fields without which a contract is reported, and not used"),
    keep: path.optional().describe("a field without which a contract is not stored"),
    supply: z
      .strictObject({ instrument: path, amount: path })
      .optional()
      .describe("paths of `instrument` and `amount`: what a contract adds to the total supply, stored or not"),
    kind: name
      .optional()
      .describe("the beginning of the codes of errors about it; default `contract`, as in `contract-missing`"),
  })
  .superRefine((template, context) => {
    if (template.name === undefined && template.implements === undefined)
      context.addIssue("must have a name or implements");
    if (template.signed !== undefined && template.registrar === undefined && template.implements === undefined)
      report(context, ["signed"], "must not stand without registrar");
    if (template.read !== undefined && (template.choices !== undefined || template.keep !== undefined))
      report(context, ["read"], "must not stand with choices or keep, which are of contracts that are stored");
  })
  .meta({ title: "template" });

/** Where contracts are looked for. */
const find = {
  template: name,
  find: z
    .record(path, text)
    .optional()
    .describe("paths in the payload, each with the value of the request that it has; without it: all of the registrar"),
  byId: text
    .optional()
    .describe("contract ids: a reference of the request, or of another entry as `allocations.holdings`"),
  or: z.array(name).min(1).optional().describe("further templates of which a contract with this id may be"),
  unique: z.boolean().optional().describe("several are a mistake on the ledger: 409"),
};

export const entryForm = z
  .strictObject({
    ...find,
    template: find.template.optional().describe("a template of the file"),
    value: z
      .enum(["contract-id", "list", "map"])
      .optional()
      .describe(
        "default `contract-id`; a `list` has each contract once; a `map` is by the party if it is found by one, else by its values",
      ),
    empty: z.boolean().optional().describe("a list or map without contracts is written, and not left out"),
    only: z.literal("provider").optional().describe("of accounts only those that have a provider"),
    function: name.optional().describe("in place of a template: a function of the Registry Utility"),
    with: z
      .record(name, z.union([z.string(), z.boolean()]))
      .optional()
      .describe("the arguments of the function"),
  })
  .superRefine((entry, context) => {
    if (entry.find !== undefined && entry.byId !== undefined) context.addIssue("must have find or byId, not both");
    if ((entry.template === undefined) === (entry.function === undefined))
      context.addIssue("must have a template or a function");
  })
  .meta({ title: "entry" });

const version = textOf(VERSION, 'a version in quotes, as "0.7.0"').meta({ title: "version" });

const packageCondition = z
  .strictObject({ package: text, from: version.optional(), before: version.optional() })
  .superRefine(({ from, before }, context) => {
    if (from === undefined && before === undefined)
      context.addIssue("must have from, before or both: a condition on a package is one on its version");
    else if (from !== undefined && before !== undefined && compareVersions(from, before) >= 0)
      report(context, ["before"], `must be a later version than from, which is ${from}, but is ${before}`);
  });

const condition = z
  .union([text, packageCondition], mustBe("a name, or a map with a package"))
  .meta({ title: "condition" });
const conditions = oneOrMore(condition, "a name, a map with a package, or a list of these");

const missing = z.enum(["refuse", "omit", "allow"]);

/** Visible ASCII without spaces, as every known key. */
const key = textOf(/^[!-~]{1,200}$/, "1 to 200 visible ASCII characters without spaces").meta({ title: "key" });
const keys = z.union(
  [key, z.array(key).min(1, mustBe("a key, or a list of keys")).superRefine(once)],
  mustBe("a key, or a list of keys"),
);

const anyValue = z.strictObject({
  tag: z.enum(["AV_Text", "AV_Int", "AV_Decimal", "AV_Date", "AV_Time", "AV_RelTime", "AV_Party", "AV_Bool"]),
  value: z.union([z.string(), z.boolean()]),
});

export const LINE_KINDS = ["entry", "disclosure", "require", "exists", "archived", "constant", "include"] as const;
const WITH_KEY: ReadonlySet<string> = new Set(["entry", "exists", "archived", "constant"]);
const WITH_MISSING: ReadonlySet<string> = new Set(["entry", "disclosure"]);

/** One of LINE_KINDS, and how it is written. */
export const lineForm = z
  .strictObject({
    entry: name.optional().describe("writes the entry under the key, and discloses its contracts"),
    disclosure: name.optional().describe("discloses the contracts of the entry"),
    require: name.optional().describe("404 where the contract does not exist; also for reject, withdraw and cancel"),
    exists: name.optional().describe("writes whether the contract exists, and discloses it"),
    archived: name.optional().describe("writes whether the contract does not exist any more"),
    constant: anyValue.optional().describe("writes this value, such as `{ tag: AV_Text, value: dark }`"),
    include: text.optional().describe("the lines of another operation of the file, as they are written there"),
    key: keys.optional().describe("`*` stands for the name of the entry; default: the `key` of the file"),
    missing: missing
      .optional()
      .describe("of `entry` and `disclosure`: what an absent contract means, in place of the operation's"),
    of: z
      .array(name)
      .min(1)
      .optional()
      .describe("the accounts that count, by their names in the template; default `[own]`"),
    disclose: z
      .boolean()
      .optional()
      .describe("of `exists`: `false` where its caller sees the contract; default `true`"),
    if: conditions.optional().describe("only where all of these hold"),
    unless: conditions.optional().describe("not where one of these holds"),
  })
  .superRefine((value, context) => {
    const given = LINE_KINDS.filter((kind) => value[kind] !== undefined);
    const [kind = ""] = given;
    if (given.length !== 1)
      context.addIssue(`must have one of ${LINE_KINDS.join(", ")}, but has ${given.join(" and ") || "none"}`);
    else if (value.key !== undefined && !WITH_KEY.has(kind)) context.addIssue(`must have no key: ${kind} writes none`);
    else if (value.missing !== undefined && !WITH_MISSING.has(kind))
      report(context, ["missing"], `must be absent: it is of entry and disclosure, and this is ${kind}`);
  })
  .meta({ title: "line" });

const OPERATION = "an operation";
const operationError = {
  error: (issue: z.core.$ZodRawIssue) => `${mustBe(OPERATION).error(issue)}; operations: ${OPERATIONS.join(", ")}`,
};
/** All that begin with a name and a slash are named by it. */
const families = [...new Set(OPERATIONS.flatMap((one) => (one.includes("/") ? one.split("/", 1) : [])))];
const operations = z
  .union(
    [
      z.enum([...OPERATIONS, ...families]),
      z
        .string()
        .regex(/\*/, operationError)
        .refine((pattern) => operationsNamed(pattern).length > 0, operationError),
    ],
    operationError,
  )
  .meta({ title: "operation" });

export const rowForm = z.strictObject({
  missing: missing.optional().describe("what an absent contract means for its lines"),
  lines: z.array(lineForm).describe("the lines of the operation"),
});
const row = z
  .union([z.array(lineForm), rowForm], mustBe("a list of lines, or a map with missing and lines"))
  .meta({ title: "operation" });

export const changeForm = z
  .strictObject({
    on: z
      .array(operations)
      .min(1, "must have at least one operation")
      .optional()
      .describe("by their names; `*` stands for any characters; default: all"),
    if: conditions.optional().describe("for requests for which all of these hold"),
    unless: conditions.optional().describe("not for requests for which one of these holds"),
    remove: z.array(text).optional().describe("names of entries whose lines go; `*` stands for any characters"),
    add: z
      .array(lineForm)
      .optional()
      .describe("after lines were removed: what writes a value stands after the last that does, the others at the end"),
    set: z
      .strictObject({
        entry: oneOrMore(text, "a name, or a list of names").optional(),
        missing: missing.optional(),
        key: keys.optional(),
      })
      .optional()
      .describe(
        "`missing` and `key` of the lines whose entries `entry` names, with `*`; without it of all lines, but no `key` of a line that has its own",
      ),
  })
  .superRefine(({ remove = [], add = [], set }, context) => {
    if (add.length + remove.length === 0 && set?.missing === undefined && set?.key === undefined)
      context.addIssue("must have add, remove or set: it changes nothing");
  })
  .meta({ title: "change" });

const instruments = z.union(
  [
    z.array(text).min(1),
    z.literal("file"),
    z.literal("seen"),
    z.strictObject({ template: name, list: path }),
    z.strictObject({
      template: name,
      id: path,
      name: path.optional(),
      symbol: path.optional(),
      decimals: path.optional(),
    }),
  ],
  mustBe("a list of ids, the word file or seen, or a template with the path of a list or of an id"),
);

const packages = z.record(text, version);

const factory = z.strictObject(find);
const factories = z.strictObject({
  "transfer-factory": factory.optional(),
  "allocation-factory": factory.optional(),
  "settlement-factory": factory.optional(),
} satisfies Record<Factory, z.ZodType>);

export const registryFile = z.strictObject({
  name: text.describe("what the registry is called"),
  package: text.optional().describe("the package of the templates that have a name"),
  module: z.string().optional().describe("what the names of the templates begin with"),
  versions: z
    .union([z.array(z.enum(["v1", "v2"])).min(1), z.literal("seen")], mustBe("a list of v1 and v2, or the word seen"))
    .optional()
    .describe(
      "of the token standard; default `[v1]`; `seen`: those of the interfaces that a registrar's contracts implement",
    ),
  key: key.optional().describe("the key of entries whose line has none; `*` stands for the name of the entry"),
  elsewhere: z
    .enum(["refuse", "omit"])
    .optional()
    .describe(
      "a contract on another synchronizer that an answer can do without: `refuse`, the default, is 409; `omit` leaves it out, and waits for none",
    ),
  templates: z.record(name, templateForm).describe("the contracts that are read, by a name of your own"),
  factory: z
    .union([factory, factories], mustBe("an entry with a template, or a map of factories by their operations"))
    .describe(
      "the factory of every choice: `template`, `find`, `byId`, `or` and `unique` of an entry; or one for each of `transfer-factory`, `allocation-factory` and `settlement-factory` that there is",
    ),
  instruments: instruments.describe(
    "ids; a template with the path of a `list`, or of `id`, `name`, `symbol` and `decimals` of one contract each; `file`, the instruments file; or `seen`, those of the file, or where it names none those that contracts name, holdings too",
  ),
  direct: name.optional().describe("the entry with which a transfer is direct; otherwise it is an offer"),
  entries: z.record(name, entryForm).optional().describe("how contracts are found, by a name of your own"),
  operations: z
    .record(operations, row)
    .optional()
    .describe(
      "by the names of operations; `*` stands for any characters. An operation has the lines of all that name it, in the order of the file",
    ),
  packages: packages.optional().describe("by package id, for conditions"),
});

/** The table of the Registry Utility, whose factories and instruments are functions. */
export const utilityForm = registryFile.partial({ instruments: true });

/** A section whose lines are all commented out is null. */
export const extensionForm = z.strictObject({
  extends: text
    .optional()
    .describe("`utility`, `standard`, or the path of a registry file, from this file; absent in a contexts file"),
  package: text.optional().describe("the package of its templates"),
  module: z.string().optional().describe("what the names of its templates begin with"),
  packages: packages.nullish().describe("by package id, for conditions"),
  templates: z.record(name, templateForm).nullish().describe("further templates"),
  entries: z.record(name, entryForm).nullish().describe("further entries"),
  changes: z.array(changeForm).nullish().describe("changes of the operations, in order"),
});

/** What a file that extends a registry file says in place of it. */
export const statedForm = registryFile
  .pick({ name: true, versions: true, factory: true, instruments: true, direct: true })
  .partial();
export const registryExtensionForm = extensionForm.extend(statedForm.shape);

export type RegistryFile = z.infer<typeof registryFile>;
export type UtilityFile = z.infer<typeof utilityForm>;
export type Extension = z.infer<typeof registryExtensionForm>;
export type TemplateDefinition = Omit<z.infer<typeof templateForm>, "choices"> & {
  /** Registries in TypeScript have choices of their own. */
  readonly choices?: string | undefined;
};
export type EntryDefinition = z.infer<typeof entryForm>;
/** One that is found by its template. */
export type EntrySource = EntryDefinition & { readonly template: string };
export type InstrumentsDefinition = z.infer<typeof instruments>;
type FactoryDefinition = z.infer<typeof factory>;

/** The factories of a table by their operations; all are the same where it has one. */
export function factoriesOf(given: RegistryFile["factory"]): ReadonlyMap<Factory, FactoryDefinition> {
  if ("template" in given) return new Map(FACTORIES.map((operation) => [operation, given]));
  const named = FACTORIES.map((operation) => [operation, given[operation]] as const);
  return new Map(named.flatMap(([operation, one]) => (one === undefined ? [] : [[operation, one]])));
}
export type Line = z.infer<typeof lineForm>;
/** A contract is of the package, at least `from` and below `before`; one of the two may be absent. */
export type PackageCondition = z.infer<typeof packageCondition>;
export type Condition = z.infer<typeof condition>;
export type Missing = z.infer<typeof missing>;
/** A change of the operations, as files and modules write it: docs/tables.md has the meaning of each field. */
export type OperationChange = z.input<typeof changeForm>;
