import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";

/** Styles and scripts are files of this server; pictures may also stand in the styles. */
const contentSecurityPolicy = {
  "default-src": ["'self'"],
  "base-uri": ["'self'"],
  "object-src": ["'none'"],
  "frame-ancestors": ["'none'"],
  "img-src": ["'self'", "data:"],
  "style-src": ["'self'", "'unsafe-inline'"],
};

/**
 * A page at /docs that shows the OpenAPI document and lets a request be tried.
 * All that it loads comes from this server, which its content security policy
 * holds it to.
 */
export function docs(openApi: object) {
  return async (server: FastifyInstance): Promise<void> => {
    // The document comes from the proto files; nothing is collected from the routes.
    await server.register(swagger, { mode: "static", specification: { document: { ...openApi } as never } });
    await server.register(swaggerUi, {
      routePrefix: "/docs",
      staticCSP: contentSecurityPolicy,
      theme: { title: "offledger" },
      uiConfig: { deepLinking: true, docExpansion: "none", validatorUrl: null },
    });
  };
}
