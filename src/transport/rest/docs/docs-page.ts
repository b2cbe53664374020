import type { FastifyInstance } from "fastify";
import { stringify } from "yaml";
import { sendStatic } from "../../static/send-static.js";
import { staticContent, type StaticContent } from "../../static/static-content.js";
import { ICON, LOGO } from "./docs-icon.js";
import { initializerOf, pageOf, swaggerUiAssets } from "./swagger-ui.js";

export const DOCS_PATH = "/docs";

const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "base-uri 'self'",
  "object-src 'none'",
  "frame-ancestors 'none'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
].join("; ");

/** A browser asks each time, and gets 304. */
const HEADERS = { "content-security-policy": CONTENT_SECURITY_POLICY, "cache-control": "public, max-age=0" };

const SVG = "image/svg+xml";
const CSS = "text/css; charset=utf-8";
const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

/** Without the field for the URL of another document, which the CSP would not load. */
const STYLES = `
.swagger-ui .topbar { background: #12324a; }
.swagger-ui .topbar .download-url-wrapper { display: none; }
.swagger-ui .topbar .dark-mode-toggle { margin-left: auto; }
`;

const OPTIONS = {
  prefix: DOCS_PATH,
  staticPrefix: "/static",
  theme: {
    title: "offledger",
    favicon: [{ filename: "icon.svg", rel: "icon", sizes: "any", type: SVG }],
    css: [{ filename: "offledger.css" }],
  },
  logo: { type: SVG, content: LOGO },
  uiConfig: { deepLinking: true, docExpansion: "none", validatorUrl: null },
  initOAuth: {},
};

/** A page at DOCS_PATH that shows the OpenAPI document and sends requests. Its CSP admits no other servers. */
export function docs(openApi: object, compresses: boolean) {
  return async (server: FastifyInstance): Promise<void> => {
    const options = { compresses, headers: HEADERS };
    const serve = (path: string, select: (url: string) => StaticContent) =>
      server.get(DOCS_PATH + path, (request, reply) => sendStatic(request, reply, select(request.url), options));
    const serveText = (path: string, text: string, type: string) => {
      const content = staticContent(Buffer.from(text), type);
      serve(path, () => content);
    };
    const [page, pageWithSlash] = pages();
    serve("", (url) => (/^[^?]*\/(?:\?|$)/.test(url) ? pageWithSlash : page));
    // The document is generated from the proto files, not collected from the routes.
    serveText("/json", JSON.stringify(openApi), "application/json");
    let yaml: StaticContent | undefined;
    // On the first request: it takes longer than the rest of the start.
    serve("/yaml", () => (yaml ??= staticContent(Buffer.from(stringify(openApi)), "application/x-yaml")));
    for (const [name, content] of swaggerUiAssets()) serve(`/static/${name}`, () => content);
    serveText("/static/swagger-initializer.js", initializerOf(OPTIONS), SCRIPT);
    serveText("/static/theme/icon.svg", ICON, SVG);
    serveText("/static/theme/offledger.css", STYLES, CSS);
    server.get(`${DOCS_PATH}/static/index.html`, (_request, reply) => reply.redirect(`${DOCS_PATH}/`));
  };
}

/** With a final slash in its URL, the page looks for its files elsewhere. */
function pages(): readonly [without: StaticContent, withSlash: StaticContent] {
  const make = pageOf(OPTIONS);
  const content = (path: string) => staticContent(Buffer.from(make(path)), HTML);
  return [content(DOCS_PATH), content(`${DOCS_PATH}/`)];
}
