/** What a request must satisfy before its handler sees it: the rules of its proto file, and limits on its arguments. */
import {
  type DescField,
  type DescMessage,
  getOption,
  isFieldSet,
  type JsonObject,
  type Message,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import { createValidator, type Violation as RuleViolation } from "@bufbuild/protovalidate";
import {
  field as fieldRules,
  FieldRulesSchema,
  message as messageRules,
  MessageRulesSchema,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Violation } from "../error-details.js";
import { rejection } from "../errors.js";

const validator = createValidator();

/** Checks a request against its buf.validate rules. Throws invalid_argument with the JSON name of each wrong field. */
export function ruleCheck(schema: DescMessage): (request: Message) => void {
  const isValid = compiledRules(schema);
  return (request) => {
    if (isValid?.(request) === true) return;
    const result = validator.validate(schema, request);
    if (result.kind === "valid") return;
    if (result.kind === "error") throw result.error;
    const problems = result.violations.map((violation) =>
      violation.ruleId === MESSAGE_ONEOF ? describeOneof(schema, request) : describe(violation),
    );
    const message = problems.map(({ jsonPath, description }) => `${jsonPath}: ${description}`).join("; ");
    throw rejection("INVALID_FIELD", message, { violations: problems });
  };
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Whether a request surely keeps its rules; false leaves it to the library, which takes ten times as long. Undefined for a
 * schema with rules other than these: a field is required, the length of a text, one of several fields is set.
 */
function compiledRules(schema: DescMessage): ((request: Message) => boolean) | undefined {
  const { oneof = [], ...others } = rulesOf(MessageRulesSchema, getOption(schema, messageRules));
  const checks = schema.fields.map((field) => compiledField(field));
  // Of the fields of a rule only the first, which every protocol has, is not a member of a oneof.
  const first = (oneof as unknown as readonly { readonly fields: readonly string[] }[]).map(({ fields: [name] }) =>
    schema.fields.find((field) => field.name === name && field.oneof === undefined),
  );
  if (Object.keys(others).length > 0 || first.includes(undefined) || !checks.every((check) => check !== undefined))
    return undefined;
  const needed = first.map((field) => field?.localName ?? "");
  const oneofs = schema.oneofs.map(({ localName }) => localName);
  return (request) => {
    const fields = request as unknown as Fields;
    for (const name of oneofs) if ((fields[name] as OneofValue).case !== undefined) return false;
    for (const name of needed) if (fields[name] === undefined) return false;
    for (const check of checks) if (!check(fields)) return false;
    return true;
  };
}

const rulesOf = (schema: DescMessage, rules: Message): JsonObject => toJson(schema, rules) as JsonObject;

/** Members of a oneof are not checked here: a request with one is left to the library. */
function compiledField(field: DescField): ((fields: Fields) => boolean) | undefined {
  const { localName: name } = field;
  const { required = false, string = {}, ...others } = rulesOf(FieldRulesSchema, getOption(field, fieldRules));
  const { minLen = 0, maxLen = Infinity, ...more } = string as JsonObject;
  // A code point has one or two code units.
  if (Object.keys({ ...others, ...more }).length > 0 || Number(minLen) > 1) return undefined;
  if (field.oneof !== undefined) return () => true;
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) {
    const [min, max] = [required === true ? 1 : Number(minLen), Number(maxLen)];
    return (fields) => {
      const text = fields[name] as string | undefined;
      return text === undefined ? required === false : text.length >= min && text.length <= max;
    };
  }
  if (field.fieldKind === "message") {
    const isInnerValid = field.message.typeName.startsWith("google.") ? () => true : compiledRules(field.message);
    if (isInnerValid === undefined) return undefined;
    return (fields) =>
      fields[name] === undefined ? required === false : isInnerValid(fields[name] as unknown as Message);
  }
  return field.fieldKind === "scalar" && required === false ? () => true : undefined;
}

interface Problem extends Violation {
  /** The path in JSON names. */
  readonly jsonPath: string;
}

function describe({ field, message }: RuleViolation): Problem {
  const path = field.map((part) => (part.kind === "field" ? part.jsonName : "")).filter((name) => name !== "");
  return { jsonPath: path.join("."), field: pathToString(field), description: message };
}

/** The id of the library's rule that exactly one of several fields is set. */
const MESSAGE_ONEOF = "message.oneof";

/** The first field of the rule is the one that every protocol has. */
function describeOneof(schema: DescMessage, request: Message): Problem {
  const [rule] = getOption(schema, messageRules).oneof;
  const fields = (rule?.fields ?? []).flatMap((name) => schema.fields.filter((field) => field.name === name));
  const set = fields.filter((field) => isFieldSet(request, field));
  const [named = fields[0]] = set.toReversed();
  const names = set.map(({ jsonName }) => jsonName).join(" and ");
  return {
    jsonPath: named?.jsonName ?? "",
    field: named?.name ?? "",
    description: set.length === 0 ? "value is required" : `${names} are set, but only one of them can be`,
  };
}

export interface ArgumentLimits {
  /** Maximum nesting of objects and lists. */
  readonly depth: number;
  /** Maximum sum of object keys and list elements. */
  readonly keys: number;
}

interface OneofValue {
  readonly case: string | undefined;
  readonly value?: unknown;
}

/** Checks the Structs and typed arguments of a request, whose fields count as keys. Throws invalid_argument. */
export function argumentLimitCheck(schema: DescMessage, limits: ArgumentLimits): (request: Message) => void {
  const fields = schema.fields.filter(
    ({ oneof, message }) => oneof !== undefined || message?.typeName === "google.protobuf.Struct",
  );
  return (request) => {
    for (const field of fields) {
      const problem = excessOf(valueOf(request, field), limits);
      if (problem === undefined) continue;
      const violations = [{ field: field.name, description: problem }];
      throw rejection("ARGUMENTS_TOO_COMPLEX", `${field.jsonName} ${problem}`, { violations });
    }
  };
}

function valueOf(request: Message, { oneof, localName }: DescField): unknown {
  const fields = request as unknown as Fields;
  if (oneof === undefined) return fields[localName];
  const { case: name, value } = fields[oneof.localName] as OneofValue;
  return name === localName ? value : undefined;
}

function excessOf(value: unknown, limits: ArgumentLimits): string | undefined {
  let keys = 0;
  let level = [value].filter(isObjectOrList);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.depth) return `is nested deeper than the limit of ${limits.depth}`;
    const inner = level.flatMap((one): unknown[] => Object.values(one));
    keys += inner.length;
    if (keys > limits.keys) return `has more keys and elements than the limit of ${limits.keys}`;
    level = inner.filter(isObjectOrList);
  }
  return undefined;
}

const isObjectOrList = (value: unknown): value is object => typeof value === "object" && value !== null;
