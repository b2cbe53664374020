import type { DescMessage, DescMethod, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Result } from "./executor.js";
import type { Recording } from "./recorder.js";
import type { ContextResult, FactoryResult, TransferFactoryResult } from "../domain/choice-context.js";

/** What a rule answers for a choice context or a factory; the transport writes it. Other messages are made here. */
type ResponseOf<O extends DescMessage> =
  MessageShape<O> extends { readonly transferKind: unknown; readonly choiceContext?: unknown }
    ? TransferFactoryResult
    : MessageShape<O> extends { readonly choiceContext?: unknown; readonly factoryId: string }
      ? FactoryResult
      : MessageShape<O> extends { readonly choiceContextData?: unknown; readonly disclosedContracts: unknown }
        ? ContextResult
        : MessageInitShape<O>;

/** A result of the state, or a message that rests on nothing there. */
type HandlerResult<O extends DescMessage> = Result<ResponseOf<O>> | ResponseOf<O>;

/** Records how the request is answered where there is a recording. */
type Handler<M> = M extends { input: infer I extends DescMessage; output: infer O extends DescMessage }
  ? (request: MessageShape<I>, recording?: Recording) => HandlerResult<O> | Promise<HandlerResult<O>>
  : never;

export type Handlers<S extends DescService> = { readonly [N in keyof S["method"]]: Handler<S["method"][N]> };

/** A service with its handlers, with the message types erased. */
export interface ServiceBinding {
  readonly service: DescService;
  readonly handlerOf: (method: DescMethod) => (request: never, recording?: Recording) => object | Promise<object>;
}

/** Binds handlers to a service. The compiler checks that every rpc has one. */
export function bind<S extends DescService>(service: S, handlers: Handlers<S>): ServiceBinding {
  return {
    service,
    handlerOf: (method) => handlers[method.localName as keyof S["method"]],
  };
}
