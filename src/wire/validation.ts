import type { DescMessage, Message } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { malformed } from "./errors.js";

const validator = createValidator();

/** Holds a request against the rules in its proto file. Throws invalid_argument, naming each field in its JSON spelling. */
export function checkRules(schema: DescMessage, request: Message): void {
  const result = validator.validate(schema, request);
  if (result.kind === "valid") return;
  if (result.kind === "error") throw result.error;
  const told = result.violations.map(({ field, message }) => {
    const path = field.map((part) => (part.kind === "field" ? part.jsonName : "")).filter((name) => name !== "");
    return `${path.join(".")}: ${message}`;
  });
  throw malformed(told.join("; "));
}
