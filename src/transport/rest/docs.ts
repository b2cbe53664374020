/** `/` and `/docs`: which service this is, and a page that shows its OpenAPI document and sends requests. */
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import type { OpenAPIV3 } from "openapi-types";
import { OperatorService } from "../../../gen/offledger/operator/v0/operator_service_pb.js";
import { compressResponses } from "../send.js";
import type { Rpc } from "../rpcs.js";
import { bindingOf } from "./bindings.js";

const DOCS_PATH = "/docs";

/** No other server: the page asks this one alone. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "base-uri 'self'",
  "object-src 'none'",
  "frame-ancestors 'none'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
].join("; ");

/** The icon of the project: entries of a ledger, and one that is handed out beside it. */
const drawing = `
  <rect width="32" height="32" rx="7" fill="#12324a"/>
  <g fill="#fff">
    <rect x="6" y="8" width="12" height="3" rx="1.5"/>
    <rect x="6" y="14.5" width="9" height="3" rx="1.5"/>
    <rect x="6" y="21" width="12" height="3" rx="1.5"/>
  </g>
  <path d="M17.5 16h4" stroke="#4fd1b5" stroke-width="2"/>
  <circle cx="24" cy="16" r="3.5" fill="#4fd1b5"/>
`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${drawing}</svg>`;

/** The icon with the name of the project, in white for a dark background. */
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 152 32" width="152" height="32">
  <title>offledger</title>${drawing}
  <text x="42" y="23" fill="#fff" font-family="Helvetica, Arial, sans-serif" font-size="22" font-weight="600">
    offledger
  </text>
</svg>`;

/** Without the field for the URL of another document, which the CSP would not load. */
const STYLES = `
.swagger-ui .topbar { background: #12324a; }
.swagger-ui .topbar .download-url-wrapper { display: none; }
.swagger-ui .topbar .dark-mode-toggle { margin-left: auto; }
`;

/** What `/` and `/docs` show. */
export interface Documentation {
  readonly openApi: object;
  readonly version: string;
}

/** Neither path is an operation, so neither needs a token. */
export function docs({ openApi, version }: Documentation, operations: readonly Rpc[], compresses: boolean) {
  // A process that only mirrors does not serve the document: JSON leaves undefined fields out.
  const document = operations.find(({ method }) => method === OperatorService.method.getOpenApiSpec);
  const openapi = document && bindingOf(document.method)?.route;
  const root = { service: "offledger", version, docs: DOCS_PATH, openapi };
  return async (server: FastifyInstance): Promise<void> => {
    server.get("/", async () => root);
    if (compresses) await compressResponses(server);
    // The document is generated from the proto files, not collected from the routes.
    await server.register(swagger, { mode: "static", specification: { document: openApi as OpenAPIV3.Document } });
    await server.register(swaggerUi, {
      routePrefix: DOCS_PATH,
      staticCSP: CONTENT_SECURITY_POLICY,
      logo: { type: "image/svg+xml", content: LOGO },
      theme: {
        title: "offledger",
        favicon: [{ filename: "icon.svg", rel: "icon", sizes: "any", type: "image/svg+xml", content: ICON }],
        css: [{ filename: "offledger.css", content: STYLES }],
      },
      uiConfig: { deepLinking: true, docExpansion: "none", validatorUrl: null },
    });
  };
}
