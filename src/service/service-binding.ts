import type { DescMessage, DescMethod, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";

import type { ContextReply } from "./context-reply.js";

type Answered<O extends DescMessage> = MessageInitShape<O> | ContextReply<O>;

/** A handler of one rpc: takes the request message, and knows nothing of how it came. */
type Handler<M> = M extends { input: infer I extends DescMessage; output: infer O extends DescMessage }
  ? (request: MessageShape<I>) => Answered<O> | Promise<Answered<O>>
  : never;

/** A handler for every rpc of a service, by its name in TypeScript. */
export type Handlers<S extends DescService> = { readonly [N in keyof S["method"]]: Handler<S["method"][N]> };

/** A service with its handlers, as the wire takes it, whatever the messages. */
export interface ServiceBinding {
  readonly service: DescService;
  readonly handlerOf: (method: DescMethod) => (request: never) => object | Promise<object>;
}

/** Puts a service and its handlers together; the compiler holds the one against the other. */
export function bind<S extends DescService>(service: S, handlers: Handlers<S>): ServiceBinding {
  return {
    service,
    // Handlers has a key for each method of the service.
    handlerOf: (method) => handlers[method.localName as keyof S["method"]],
  };
}
