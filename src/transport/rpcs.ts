import type { DescMethod, DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { Result } from "../service/executor.js";
import type { Recording } from "../service/recorder.js";
import type { ServiceBinding } from "../service/service-binding.js";
import { type ArgumentLimits, argumentLimitCheck, ruleCheck } from "./decoding/validation.js";
import { createMessage, disclosedOf, encoderOf, hasContext, type Pieces } from "./encoding/encoders.js";
import { toConnectError } from "./errors.js";

export type Encoding = "json" | "binary";

/** One rpc, ready to be called by any protocol. Throws ConnectError only. */
export interface Rpc {
  readonly service: DescService;
  readonly method: DescMethodUnary;
  /** Full name of the rpc: its path without the leading slash. */
  readonly name: string;
  /**
   * Validates and executes a request, mostly synchronously; records what the result rests on where there is a recording.
   * Rejects with ConnectError only.
   */
  readonly call: (request: Message, recording?: Recording) => Result<object> | Promise<Result<object>>;
  /**
   * Fetches the bodies of the contracts of a result; undefined if they are in memory. The function that it resolves with gives them
   * to the contracts and returns the result to encode, a later one if the state has moved on. Rejects with ConnectError.
   */
  readonly takeBodies: (result: Result<object>, request: Message) => Promise<() => Result<object>> | undefined;
  /** The contracts must have their bodies. */
  readonly encode: (result: Result<object>, request: Message, encoding: Encoding) => Pieces;
  /** The entity tag of a result, which is the same in all encodings. */
  readonly etag: (result: Result<object>, request: Message) => string;
}

/** Logs an error that is a defect of the service, with the rpc in which it happened. */
export type Report = (defect: unknown, rpc?: string) => void;

/** Validation, limits and load shedding sit here, where REST and RPC both pass. Streaming rpcs are left out. */
export function rpcs(
  bindings: readonly ServiceBinding[],
  report: Report,
  limits: ArgumentLimits,
  overload: () => ConnectError | undefined = () => undefined,
): Rpc[] {
  return bindings.flatMap(({ service, handlerOf }) =>
    service.methods.filter(isUnary).map((method): Rpc => {
      const { input, output } = method;
      const name = `${service.typeName}/${method.name}`;
      // Protocols decode the request type of the method, which is what its handler takes.
      const handler = handlerOf(method) as (request: Message, recording?: Recording) => object | Promise<object>;
      const fail = (error: unknown, request: Message): never => {
        throw toConnectError(error, (defect) => report(defect, name), input, request);
      };
      const isContext = hasContext(output);
      const contractsOf = isContext ? disclosedOf : () => [];
      const toMessage = (value: object) => createMessage(output, value);
      const toAnswer = (returned: object): Result<object> => {
        const result = returned instanceof Result ? (returned as Result<object>) : new Result(returned, undefined);
        return isContext ? result : result.convert(toMessage);
      };
      const checkRules = ruleCheck(input);
      const checkArguments = argumentLimitCheck(input, limits);
      const checkLoad = () => {
        const error = isHealth(name) ? undefined : overload();
        if (error !== undefined) throw error;
      };
      const encoderFor = encoderOf(output);
      const orError = <T>(request: Message, write: () => T): T => {
        try {
          return write();
        } catch (error) {
          return fail(error, request);
        }
      };
      return {
        service,
        method,
        name,
        call(request, recording) {
          // Checked again after the body is read: many requests of one HTTP/2 connection arrive at once.
          checkLoad();
          return orError(request, () => {
            checkRules(request);
            checkArguments(request);
            const returned = handler(request, recording);
            if (!(returned instanceof Promise)) return toAnswer(returned);
            return returned.then(toAnswer).catch((error: unknown) => fail(error, request));
          });
        },
        takeBodies(result, request) {
          if (result.hasBodies(contractsOf(result.value))) return undefined;
          return result.takeBodies(contractsOf).then(
            // Checked again right before they are encoded: many requests may have waited for their bodies.
            (give) => () => {
              checkLoad();
              return give();
            },
            (error: unknown) => fail(error, request),
          );
        },
        encode: (result, request, encoding) =>
          orError(request, () => {
            const encoded = encoderFor(request)[encoding](result.value);
            result.usedBodies(contractsOf(result.value));
            return encoded;
          }),
        etag: ({ value }, request) => orError(request, () => encoderFor(request).etag(value)),
      };
    }),
  );
}

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === "unary";

const HEALTH_PACKAGES = ["offledger.health.", "grpc.health."];

/** Whether an operation reports health. Limits never apply to those: a probe must get its response. */
export function isHealth(operation: string): boolean {
  return HEALTH_PACKAGES.some((prefix) => operation.startsWith(prefix));
}
