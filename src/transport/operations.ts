import type { DescMethod, DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { Answer } from "../registry/executor.js";
import type { Recording } from "../registry/recorder.js";
import type { ServiceBinding } from "../service/service-binding.js";
import { type ArgumentLimits, argumentLimitCheck, ruleCheck } from "./decoding/validation.js";
import { EncodableResponse } from "./encoding/encodable-response.js";
import { noteRefusal, toConnectError } from "./errors.js";
import { isHealth } from "./hooks.js";

/** One rpc, ready to be called by any protocol. */
export interface Operation {
  readonly service: DescService;
  readonly method: DescMethodUnary;
  /** Full name of the rpc: its path without the leading slash. */
  readonly name: string;
  /**
   * Validates and executes a request, mostly synchronously; records what the response rests on where there is a recording.
   * Throws, or rejects with, ConnectError only.
   */
  readonly call: (request: Message, recording?: Recording) => EncodableResponse | Promise<EncodableResponse>;
}

/** Logs an error that is a defect of the service, with the rpc in which it happened. */
export type Report = (defect: unknown, rpc?: string) => void;

/** Validation, limits and load shedding sit here, where REST and RPC both pass. Throws for a streaming rpc. */
export function operations(
  bindings: readonly ServiceBinding[],
  report: Report,
  limits: ArgumentLimits,
  overload: () => ConnectError | undefined = () => undefined,
): Operation[] {
  return bindings.flatMap(({ service, handlerOf }) =>
    service.methods.map((method) => {
      const name = `${service.typeName}/${method.name}`;
      if (!isUnary(method)) throw new Error(`${name} is a streaming rpc, and only unary rpcs are served`);
      // Protocols decode the request type of the method, which is what its handler takes.
      const handler = handlerOf(method) as (request: Message, recording?: Recording) => object | Promise<object>;
      const toError = (error: unknown) => toConnectError(error, (defect) => report(defect, name), method.input);
      const toResponse = (result: object) =>
        result instanceof Answer
          ? new EncodableResponse(method.output, result.value as object, toError, result.basis)
          : new EncodableResponse(method.output, result, toError);
      const checkRules = ruleCheck(method.input);
      const checkArguments = argumentLimitCheck(method.input, limits);
      const shed = isHealth(name) ? () => undefined : overload;
      const call = (request: Message, recording?: Recording): EncodableResponse | Promise<EncodableResponse> => {
        // Checked again after the body is read: many requests of one HTTP/2 connection arrive at once.
        const refusal = shed();
        if (refusal !== undefined) throw refusal;
        try {
          checkRules(request);
          checkArguments?.(request);
          const result = handler(request, recording);
          if (!(result instanceof Promise)) return toResponse(result);
          return result.then(toResponse).catch((error: unknown) => {
            throw noteRefusal(toError(error), method.input, request);
          });
        } catch (error) {
          throw noteRefusal(toError(error), method.input, request);
        }
      };
      return { service, method, name, call };
    }),
  );
}

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === "unary";
