import { type DescMessage, getOption, isFieldSet, type Message } from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import { createValidator, type Violation as RuleViolation } from "@bufbuild/protovalidate";
import { message as messageRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { rejection, type Violation } from "../errors.js";
import { fastCheckFor } from "./fast-check.js";
import { fieldOf } from "./fast-schema.js";

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
    const problems = result.violations.map((violation) =>
      violation.ruleId === MESSAGE_ONEOF ? describeOneof(schema, request) : describe(violation),
    );
    const message = problems.map(({ jsonPath, description }) => `${jsonPath}: ${description}`).join("; ");
    throw rejection("INVALID_FIELD", message, { violations: problems });
  };
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
  const fields = (rule?.fields ?? []).map((name) => fieldOf(schema, name));
  const set = fields.filter((field) => isFieldSet(request, field));
  const [named = fields[0]] = set.toReversed();
  const names = set.map(({ jsonName }) => jsonName).join(" and ");
  return {
    jsonPath: named?.jsonName ?? "",
    field: named?.name ?? "",
    description: set.length === 0 ? "value is required" : `${names} are set, but only one of them can be`,
  };
}
