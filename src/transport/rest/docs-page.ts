import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { compressFiles } from "../compression/compress-files.js";

export const DOCS_PATH = "/docs";

const contentSecurityPolicy = {
  "default-src": ["'self'"],
  "base-uri": ["'self'"],
  "object-src": ["'none'"],
  "frame-ancestors": ["'none'"],
  "img-src": ["'self'", "data:"],
  "style-src": ["'self'", "'unsafe-inline'"],
};

/** A page at DOCS_PATH that shows the OpenAPI document and sends requests. Its CSP admits no other servers. */
export function docs(openApi: object, compresses: boolean) {
  return async (server: FastifyInstance): Promise<void> => {
    if (compresses) server.addHook("onSend", compressFiles());
    // The document is generated from the proto files, not collected from the routes.
    await server.register(swagger, { mode: "static", specification: { document: { ...openApi } as never } });
    await server.register(swaggerUi, {
      routePrefix: DOCS_PATH,
      staticCSP: contentSecurityPolicy,
      theme: { title: "offledger" },
      uiConfig: { deepLinking: true, docExpansion: "none", validatorUrl: null },
    });
  };
}
