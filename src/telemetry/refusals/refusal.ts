import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Cause, RegistryErrorReason } from "../../domain/errors.js";

/** Why the rules of the registry refused a request, and what was asked. */
export interface Refusal {
  readonly reason: RegistryErrorReason;
  readonly message: string;
  /** At least one. */
  readonly causes: readonly Cause[];
  readonly schema: DescMessage;
  readonly request: Message;
}

const MAX_CODE_LENGTH = 63;

/** The code of a cause. A registry module may give one of any length. */
export const boundedCode = ({ code }: Cause): string => code.slice(0, MAX_CODE_LENGTH);

/** The code of the first cause, for logs, metrics and traces. */
export const refusalCode = ({ causes: [first] }: Refusal): string => (first === undefined ? "" : boundedCode(first));
