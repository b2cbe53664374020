import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  type Message,
} from "@bufbuild/protobuf";
import type { Offered } from "../service/handlers.js";
import { toConnectError } from "./errors.js";
import { checkRules } from "./validation.js";

/** One rpc, ready to be called by any protocol. */
export interface Operation {
  readonly service: DescService;
  readonly method: DescMethodUnary;
  /** Validates the request and answers it. Throws ConnectError alone. */
  readonly call: (request: Message) => Promise<Message>;
}

/** Told of every error that is a defect of ours, with the rpc in which it happened. */
export type Report = (defect: unknown, rpc: string) => void;

/**
 * The operations of all services. What cuts across them sits here, where REST
 * and RPC both pass. Throws where a service has an rpc that is not unary.
 */
export function operations(offered: readonly Offered[], report: Report): Operation[] {
  return offered.flatMap(({ service, handlerOf }) =>
    service.methods.map((method) => {
      const rpc = `${service.typeName}/${method.name}`;
      if (!isUnary(method)) throw new Error(`${rpc} streams, and only unary rpcs are served`);
      // A handler takes the request of its own method, which is what a protocol decodes.
      const handler = handlerOf(method) as (request: Message) => Promise<Record<string, unknown>>;
      const call = async (request: Message): Promise<Message> => {
        try {
          checkRules(method.input, request);
          return create<DescMessage>(method.output, await handler(request));
        } catch (error) {
          throw toConnectError(error, (defect) => report(defect, rpc));
        }
      };
      return { service, method, call };
    }),
  );
}

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === "unary";
