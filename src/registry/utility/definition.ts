/** The forms of utility.yaml, of the contexts file (docs/contexts.md), and of the changes of a module. */
import { z } from "zod";
import { integer, mustBe, once, report, textOf } from "../../util/operator-file.js";
import { entryForm, templateForm } from "../engine/definition.js";
import type { Choice, IssuanceChoice, IssuanceInstruction, TransferKind } from "../sdk/registry.js";

/** Versions of Daml packages: numbers separated by points. */
const VERSION = /^\d{1,15}(?:\.\d{1,15}){0,9}$/;

/** Negative if `a` is older than `b`, 0 if they are equal. Missing numbers count as 0. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Allocation instructions are never pending: the factory makes the allocation at once. */
export type PendingChoice = Exclude<Choice, `allocation-instruction/${string}`>;

export type FactoryOperation =
  | `transfer-factory/${TransferKind}`
  | "allocation-factory"
  | "settlement-factory"
  | `${IssuanceInstruction}/create`
  | "burn-mint-factory";

export type ChoiceOperation = PendingChoice | IssuanceChoice;
export type Operation = FactoryOperation | ChoiceOperation;

export const factoryOperations: readonly FactoryOperation[] = [
  "transfer-factory/offer",
  "transfer-factory/direct",
  "transfer-factory/self",
  "allocation-factory",
  "settlement-factory",
  "mint-offer/create",
  "mint-request/create",
  "burn-offer/create",
  "burn-request/create",
  "burn-mint-factory",
];

export const choiceOperations: readonly ChoiceOperation[] = [
  "transfer-instruction/accept",
  "transfer-instruction/reject",
  "transfer-instruction/withdraw",
  "allocation/execute-transfer",
  "allocation/withdraw",
  "allocation/cancel",
  "mint-offer/accept",
  "mint-offer/reject",
  "mint-offer/cancel",
  "mint-request/accept",
  "mint-request/reject",
  "mint-request/cancel",
  "burn-offer/accept",
  "burn-offer/reject",
  "burn-offer/cancel",
  "burn-request/accept",
  "burn-request/reject",
  "burn-request/cancel",
];

const operations: readonly Operation[] = [...factoryOperations, ...choiceOperations];

/** The prefix of every key of the Registry Utility. */
const KEY_PREFIX = "utility.digitalasset.com/";

/** `prefixed`: under KEY_PREFIX. `both`: also under the bare name, which packages before Registry App 0.12 read. */
const keyForm = z.enum(["prefixed", "both"]);
export type KeyForm = z.infer<typeof keyForm>;

export const keysOf = (entry: string, form: KeyForm): readonly string[] =>
  form === "both" ? [`${KEY_PREFIX}${entry}`, entry] : [`${KEY_PREFIX}${entry}`];

/** The names that lines may use. */
export interface KnownParts {
  readonly entries: readonly string[];
  readonly disclosures: readonly string[];
}

const nameIn = (names: readonly string[] | undefined): z.ZodType<string, string> =>
  names === undefined ? z.string().min(1) : z.enum(names);

const operationError = {
  error: (issue: z.core.$ZodRawIssue) => `${mustBe("an operation").error(issue)}; operations: ${operations.join(", ")}`,
};
const matching = (text: string): readonly Operation[] =>
  operations.filter((name) => name === text || (text.endsWith("*") && name.startsWith(text.slice(0, -1))));

/** Names of operations; `transfer-instruction/*` stands for all that begin so, `*` for all. */
const operationNames = z
  .array(
    z.union(
      [
        z.enum(operations),
        z
          .string()
          .regex(/\*$/, operationError)
          .refine((text) => matching(text).length > 0, operationError),
      ],
      operationError,
    ),
  )
  .min(1, "must have at least one operation")
  .transform((names): readonly Operation[] => [...new Set(names.flatMap(matching))]);

const version = textOf(VERSION, 'a version in quotes, as "0.7.0"');

/**
 * The contract on which the choice is exercised (the factory, or the instruction) was created by this package, in a version
 * from `from` to just before `before`. A package id whose version is not known counts as the current version.
 */
const packageCondition = z
  .strictObject({ package: z.string().min(1), from: version.optional(), before: version.optional() })
  .superRefine(({ from, before }, context) => {
    if (from === undefined && before === undefined)
      context.addIssue("must have from, before or both: a condition on a package is one on its version");
    else if (from !== undefined && before !== undefined && compareVersions(from, before) >= 0)
      report(context, ["before"], `must be a later version than from, which is ${from}, but is ${before}`);
  });
export type PackageCondition = z.infer<typeof packageCondition>;

/**
 * `checkBlocklist`: an instrument of the request has it. `severalInstruments`: the request is about more than one.
 * `configured`: an instrument of the request has a configuration on the synchronizer of the answer.
 */
const NAMED_CONDITIONS = ["checkBlocklist", "severalInstruments", "configured"] as const;
const condition = z.union(
  [z.enum(NAMED_CONDITIONS), packageCondition],
  mustBe(`${NAMED_CONDITIONS.join(", ")}, or a map with a package`),
);
export type Condition = z.infer<typeof condition>;

export interface LineOptions {
  readonly required: boolean;
  /** Restricts `required`; undefined if it always applies. */
  readonly requiredWhen: Condition | undefined;
  /** Restricts the line; undefined if it always applies. */
  readonly when: Condition | undefined;
}

export interface EntryLine extends LineOptions {
  /** The name of an entry: a built-in one, or one of the operator's. */
  readonly entry: string;
  /** Every key under which the value stands, in full. */
  readonly keys: readonly string[];
}

export interface DisclosureLine extends LineOptions {
  /** The name of a disclosure, or of one of the operator's entries. */
  readonly disclosure: string;
}

const options = { required: z.boolean().default(false), when: condition.optional() };
const KEYS = "prefixed, both, or a list of at least one key";
/** Visible ASCII without spaces, as every known key. */
const key = textOf(/^[!-~]{1,200}$/, "1 to 200 visible ASCII characters without spaces");
const keys = z.union([keyForm, z.array(key).min(1, mustBe(KEYS)).superRefine(once)], mustBe(KEYS));

const entryLine = (known?: KnownParts) =>
  z
    .strictObject({ entry: nameIn(known?.entries), keys: keys.default("prefixed"), ...options })
    .transform(({ entry, keys: given, required, when }): EntryLine => {
      const full = typeof given === "string" ? keysOf(entry, given) : given;
      return { entry, keys: full, required, requiredWhen: undefined, when };
    });

const disclosureLine = (known?: KnownParts) =>
  z
    .strictObject({ disclosure: nameIn(known?.disclosures), ...options })
    .transform(({ disclosure, required, when }): DisclosureLine => ({
      disclosure,
      required,
      requiredWhen: undefined,
      when,
    }));

/** What the context of one operation has. */
export interface OperationRow {
  readonly entries: readonly EntryLine[];
  readonly disclosures: readonly DisclosureLine[];
  /** Whether the choice fails for an instrument with `checkBlocklist`, unless a line has that condition. */
  readonly needsBlocklist: boolean;
  /** Whether the reward entries exist for the operation. They are off. */
  readonly hasRewards: boolean;
  /** Whether what is not required is left out also where it is elsewhere or in reassignment. */
  readonly allowsMissing: boolean;
}

/** utility.yaml, whose operations become a pair for each. */
export const utilityForm = z.strictObject({
  name: z.string(),
  package: z.string(),
  module: z.string(),
  templates: z.record(z.string(), templateForm.extend({ choices: z.string().optional() })),
  entries: z.record(z.string(), entryForm),
  operations: z.array(
    z
      .strictObject({
        operations: operationNames,
        entries: z.array(entryLine()),
        disclosures: z.array(disclosureLine()).default([]),
        blocklist: z.literal("required").optional(),
        missing: z.literal("allowed").optional(),
        rewards: z.boolean().default(false),
      })
      .transform(({ operations: names, entries, disclosures, blocklist, missing, rewards }) => {
        const row: OperationRow = {
          entries,
          disclosures,
          needsBlocklist: blocklist !== undefined,
          hasRewards: rewards,
          allowsMissing: missing !== undefined,
        };
        return names.map((name) => [name, row] as const);
      }),
  ),
});

/** A change of the table, by the operator or a module. */
export const changeForm = (known?: KnownParts) =>
  z
    .strictObject({
      /** All of them by default. */
      operations: operationNames.default(operations),
      /** Restricts rewards, credentials and the lines of `add`. */
      when: condition.optional(),
      add: z
        .array(z.union([entryLine(known), disclosureLine(known)], "must have either an entry or a disclosure"))
        .default([]),
      /** Names of entries and disclosures. */
      remove: z.array(nameIn(known && [...new Set([...known.entries, ...known.disclosures])])).default([]),
      credentials: z.enum(["required", "optional"]).optional(),
      rewards: z.boolean().optional(),
      /** The form of the keys of all entries whose keys have one. */
      keys: keyForm.optional(),
    })
    .superRefine(({ when, add, remove, credentials, rewards, keys: form }, context) => {
      const isRestricted = when !== undefined;
      if (isRestricted && (remove.length > 0 || rewards === false || credentials === "optional" || form !== undefined))
        report(
          context,
          ["when"],
          "must be absent from a change that removes, switches off or has keys: it restricts only what is added",
        );
      if (add.length + remove.length === 0 && [credentials, rewards, form].every((one) => one === undefined))
        report(context, [], "must have add, remove, credentials, rewards or keys: it changes nothing");
      for (const [index, line] of add.entries())
        if (isRestricted && line.when !== undefined)
          report(
            context,
            ["add", index, "when"],
            "must be absent, because the change has a condition for all its lines",
          );
    });
export type ContextChange = z.output<ReturnType<typeof changeForm>>;
/** A change of the table, as modules and the contexts file write it: docs/contexts.md has the meaning of each field. */
export type OperationChange = z.input<ReturnType<typeof changeForm>>;

/** `holder`: each holder of a mint, burn or settlement. `party`: each of sender, receiver and holders. */
const requestValues = ["registrar", "provider", "instrument", "sender", "receiver", "holder", "party"] as const;
type RequestValue = (typeof requestValues)[number];

/** Whether a request may have several parties as this value. */
const isPerParty = (value: RequestValue): boolean => value === "holder" || value === "party";

/** Whether the value is a party other than the registrar and the provider. */
const isParty = (value: RequestValue): boolean => isPerParty(value) || value === "sender" || value === "receiver";

const FIND = mustBe("a list of at least one field");

export const ownEntryForm = z
  .strictObject({
    template: z.strictObject({
      package: textOf(/^[\w-]{1,200}$/, "the name of a package: letters, digits, - and _"),
      name: textOf(/^[A-Za-z][\w.]{0,499}:[A-Za-z][\w.]{0,499}$/, "Module:Entity"),
    }),
    /** A contract is found if all of its fields have these values. */
    find: z
      .array(
        z.strictObject({
          /** A field of type text or party in the contract's payload. */
          field: textOf(
            /^[A-Za-z_][\w']{0,199}(?:\.[A-Za-z_][\w']{0,199}){0,19}$/,
            "the name of a field, or a path as details.owner",
          ),
          is: z.enum(requestValues),
          /** Compares only this many characters of the request's value. */
          prefix: integer(1, 300).optional(),
        }),
        FIND,
      )
      .min(1, FIND),
    /**
     * `contract-id`: the newest contract. `list`: the newest contract for each value of the request, each once.
     * `map-by-party`: the newest contract for each party.
     */
    value: z.enum(["contract-id", "list", "map-by-party"]),
  })
  // A value has one contract, or one for each party: several of a request would not fit.
  .superRefine(({ find, value }, context) => {
    const parties = find.filter(({ is }) => isParty(is)).length;
    if (parties > 1) report(context, ["find"], "must have at most one field that is a party of the request");
    if (value === "contract-id" && find.some(({ is }) => isPerParty(is)))
      report(context, ["value"], "must be list or map-by-party, because a request may have several such parties");
    if (value === "map-by-party" && parties === 0)
      report(context, ["value"], "must be list or contract-id, because no field is a party of the request");
    if (value === "map-by-party" && find.some(({ is }) => is === "instrument"))
      report(context, ["value"], "must be list, because a request may have several instruments for a party");
  });
export type OwnEntryDefinition = z.infer<typeof ownEntryForm>;

/** The name of an entry of the operator or a module; those of `taken` are built in, or of a module. */
export const entryName = ({ entries, disclosures }: KnownParts = { entries: [], disclosures: [] }) =>
  z
    .string()
    .regex(
      /^[a-z][a-z0-9-]{0,99}$/,
      "must be a name of lower-case letters, digits and hyphens that begins with a letter",
    )
    .refine(
      (name) => !entries.includes(name) && !disclosures.includes(name),
      "must have another name: there is an entry or disclosure of this name already",
    );

/**
 * The contexts file. A section whose lines are all commented out is null. `known` has the parts that lines may use besides
 * the entries `own` of the file; without it lines may use any, as in the JSON schema for editors.
 */
export function contextsForm(known?: KnownParts, own: readonly string[] = []) {
  const names = known && { entries: [...known.entries, ...own], disclosures: [...known.disclosures, ...own] };
  return z.strictObject({
    /** Versions by package id. */
    packages: z.record(z.string(), version).nullish(),
    entries: z.record(entryName(known), ownEntryForm).nullish(),
    changes: z.array(changeForm(names)).nullish(),
  });
}
