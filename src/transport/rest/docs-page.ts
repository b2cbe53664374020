import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { compressFiles } from "../compression/compress-files.js";
import { ICON, LOGO } from "./docs-icon.js";

export const DOCS_PATH = "/docs";

const contentSecurityPolicy = {
  "default-src": ["'self'"],
  "base-uri": ["'self'"],
  "object-src": ["'none'"],
  "frame-ancestors": ["'none'"],
  "img-src": ["'self'", "data:"],
  "style-src": ["'self'", "'unsafe-inline'"],
};

const svg = "image/svg+xml";

/** Without the field for the URL of another document, which the CSP would not load. */
const css = `
.swagger-ui .topbar { background: #12324a; }
.swagger-ui .topbar .download-url-wrapper { display: none; }
.swagger-ui .topbar .dark-mode-toggle { margin-left: auto; }
`;

/** A page at DOCS_PATH that shows the OpenAPI document and sends requests. Its CSP admits no other servers. */
export function docs(openApi: object, compresses: boolean) {
  return async (server: FastifyInstance): Promise<void> => {
    if (compresses) server.addHook("onSend", compressFiles());
    // The document is generated from the proto files, not collected from the routes.
    await server.register(swagger, { mode: "static", specification: { document: { ...openApi } as never } });
    await server.register(swaggerUi, {
      routePrefix: DOCS_PATH,
      staticCSP: contentSecurityPolicy,
      theme: {
        title: "offledger",
        favicon: [{ filename: "icon.svg", rel: "icon", sizes: "any", type: svg, content: ICON }],
        css: [{ filename: "offledger.css", content: css }],
      },
      logo: { type: svg, content: LOGO },
      uiConfig: { deepLinking: true, docExpansion: "none", validatorUrl: null },
    });
  };
}
