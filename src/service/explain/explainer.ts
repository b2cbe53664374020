import type { Cause, RegistryError } from "../../domain/errors.js";
import type { JsonObject } from "../../domain/json.js";
import type { Explanation } from "../../registry/explain.js";
import type { ContextAnswer } from "../../registry/sdk/registry.js";

/** A request to explain. */
export interface ExplainedCall {
  /** The full name of the rpc, or method and path of its REST form. */
  readonly operation: string;
  readonly request: JsonObject;
}

/** A request that was run for its explanation. */
export interface Explained {
  /** The full name of the rpc. */
  readonly operation: string;
  readonly request: JsonObject;
  /** The time as at which it was answered, in milliseconds since 1970. */
  readonly at: number;
  /** Undefined if nothing was looked up. */
  readonly offset: number | undefined;
  /** The answer as JSON, as over REST. Undefined if the request is refused. */
  readonly answer: JsonObject | undefined;
  /** The answer, if it has a choice context. */
  readonly context: ExplainedContext | undefined;
  /** Undefined if the request succeeds. */
  readonly refusal: ExplainedRefusal | undefined;
  /** In microseconds since 1970; undefined if time does not change the answer. */
  readonly validUntil: number | undefined;
  readonly explanation: Explanation | undefined;
}

export interface ExplainedContext extends ContextAnswer {
  /** Undefined if the request asks for no factory. */
  readonly factoryId: string | undefined;
}

export interface ExplainedRefusal {
  readonly error: RegistryError;
  /** The name of the code, such as `not_found`. */
  readonly status: string;
  readonly message: string;
  /** At least one. */
  readonly causes: readonly Cause[];
}

/** Runs requests as the public port does, and records how they are answered. */
export interface Explainer {
  /** `at` is in milliseconds since 1970; undefined for now. Rejects with "invalid" if there is no such operation. */
  explain(call: ExplainedCall, at: number | undefined): Promise<Explained>;
}

/** The refused requests that are kept. */
export interface KeptRefusals {
  /** Undefined for an id that is not kept. `request` is undefined if it was too large to keep. */
  find(requestId: string): { readonly operation: string; readonly request: JsonObject | undefined } | undefined;
}
