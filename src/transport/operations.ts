import type { DescMethod, DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { isHealth } from "./middleware/health-requests.js";
import type { ServiceBinding } from "../service/service-binding.js";
import { EncodableResponse } from "./encoding/encodable-response.js";
import { toConnectError } from "./errors.js";
import { type ArgumentLimits, argumentLimitCheck, DEFAULT_ARGUMENT_LIMITS } from "./decoding/argument-limits.js";
import { ruleCheck } from "./decoding/validation.js";

/** One rpc, ready to be called by any protocol. */
export interface Operation {
  readonly service: DescService;
  readonly method: DescMethodUnary;
  /** The full name of the rpc, as its path has it without the first slash. */
  readonly name: string;
  /** Validates the request and answers it, mostly at once. Throws ConnectError alone, as the promise does. */
  readonly call: (request: Message) => EncodableResponse | Promise<EncodableResponse>;
}

/** Told of every error that is a defect of ours, with the rpc in which it happened. */
export type Report = (defect: unknown, rpc: string) => void;

/**
 * The operations of all services. What cuts across them sits here, where REST
 * and RPC both pass. `refusal` says why nothing more is answered for now. Throws where a service has an rpc that is not unary.
 */
export function operations(
  bindings: readonly ServiceBinding[],
  report: Report,
  limits: ArgumentLimits = DEFAULT_ARGUMENT_LIMITS,
  refusal: () => ConnectError | undefined = () => undefined,
): Operation[] {
  return bindings.flatMap(({ service, handlerOf }) =>
    service.methods.map((method) => {
      const name = `${service.typeName}/${method.name}`;
      if (!isUnary(method)) throw new Error(`${name} streams, and only unary rpcs are served`);
      // A handler takes the request of its own method, which is what a protocol decodes.
      const handler = handlerOf(method) as (request: Message) => object | Promise<object>;
      const refuse = (error: unknown) => toConnectError(error, (defect) => report(defect, name));
      const answered = (found: object) => new EncodableResponse(method.output, found, refuse);
      const checkRules = ruleCheck(method.input);
      const checkSize = argumentLimitCheck(method.input, limits);
      const isRefused = isHealth(name) ? () => undefined : refusal;
      const call = (request: Message): EncodableResponse | Promise<EncodableResponse> => {
        // Of an HTTP/2 connection many come whole at once, and wait for each other from here on.
        const late = isRefused();
        if (late !== undefined) throw late;
        try {
          checkRules(request);
          checkSize?.(request);
          const found = handler(request);
          if (!(found instanceof Promise)) return answered(found);
          return found.then(answered).catch((error: unknown) => {
            throw refuse(error);
          });
        } catch (error) {
          throw refuse(error);
        }
      };
      return { service, method, name, call };
    }),
  );
}

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === "unary";
