import { createContextKey } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";

/** A call that connect-fastify serves, as the handlers see it. */
export interface ConnectCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export const connectCall = createContextKey<ConnectCall | undefined>(undefined, {
  description: "request and reply of Fastify",
});

declare module "fastify" {
  interface FastifyRequest {
    /** Set on the routes of Connect and gRPC, for requests that are not on the fast path. */
    connectCall: ConnectCall | undefined;
  }
}
