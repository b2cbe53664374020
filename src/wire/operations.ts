import type { DescMethod, DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import type { Offered } from "../service/handlers.js";
import { type Answer, answerOf } from "./answer/answer.js";
import { toConnectError } from "./errors.js";
import { checkRules } from "./validation.js";

/** One rpc, ready to be called by any protocol. */
export interface Operation {
  readonly service: DescService;
  readonly method: DescMethodUnary;
  /** Validates the request and answers it. Throws ConnectError alone. */
  readonly call: (request: Message) => Promise<Answer>;
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
      const handler = handlerOf(method) as (request: Message) => Promise<object>;
      const refuse = (error: unknown) => toConnectError(error, (defect) => report(defect, rpc));
      const call = async (request: Message): Promise<Answer> => {
        try {
          checkRules(method.input, request);
          return guarded(answerOf(method.output, await handler(request)), refuse);
        } catch (error) {
          throw refuse(error);
        }
      };
      return { service, method, call };
    }),
  );
}

/** What fails while an answer is written is a defect like any other. */
function guarded(answer: Answer, refuse: (error: unknown) => Error): Answer {
  const guard =
    <T>(write: () => T) =>
    () => {
      try {
        return write();
      } catch (error) {
        throw refuse(error);
      }
    };
  return { message: guard(answer.message), json: guard(answer.json), binary: guard(answer.binary) };
}

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === "unary";
