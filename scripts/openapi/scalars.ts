import { ScalarType } from "@bufbuild/protobuf";
import type { FieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { JsonObject } from "../../src/util/json.js";

/** The schema of a scalar field. Throws for a type that the contract does not use. */
export function scalar(type: ScalarType, rules: FieldRules | undefined, comment: string): JsonObject {
  switch (type) {
    case ScalarType.STRING: {
      const { minLen = 0n, maxLen = 0n, pattern = "" } = rules?.type.case === "string" ? rules.type.value : {};
      return {
        type: "string",
        ...(minLen > 0n && { minLength: Number(minLen) }),
        ...(maxLen > 0n && { maxLength: Number(maxLen) }),
        ...(pattern !== "" && { pattern }),
        // Times are strings in proto, to keep every digit of the ledger.
        ...(comment.includes("RFC 3339") && { format: "date-time" }),
      };
    }
    case ScalarType.BOOL:
      return { type: "boolean", default: false };
    case ScalarType.INT32: {
      const limits = rules?.type.case === "int32" ? rules.type.value : undefined;
      return {
        type: "integer",
        format: "int32",
        ...(limits?.greaterThan.case === "gte" && { minimum: limits.greaterThan.value }),
        ...(limits?.lessThan.case === "lte" && { maximum: limits.lessThan.value }),
      };
    }
    // Base64, without the format that the published documents do not give.
    case ScalarType.BYTES:
      return { type: "string" };
    default:
      throw new Error(`fields of type ${ScalarType[type]} are not supported`);
  }
}
