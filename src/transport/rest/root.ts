import type { FastifyInstance } from "fastify";
import { OperatorService } from "../../../gen/offledger/operator/v0/operator_service_pb.js";
import type { Operation } from "../operations.js";
import { DOCS_PATH } from "./docs/docs-page.js";
import { bindingsOf } from "./http-rules.js";

/** Serves `/`: which service this is, and where its documentation is. It is no operation, so it needs no token. */
export function root(version: string, operations: readonly Operation[]) {
  const document = operations.find(({ method }) => method === OperatorService.method.getOpenApiSpec);
  const [binding] = document === undefined ? [] : bindingsOf(document.method);
  const info = { service: "offledger", version, docs: DOCS_PATH, openapi: binding?.path.route };
  // A process that only mirrors does not serve the document: JSON leaves undefined fields out.
  const body = JSON.stringify(info);
  return async (server: FastifyInstance): Promise<void> => {
    server.get("/", (_request, reply) => reply.type("application/json").send(body));
  };
}
