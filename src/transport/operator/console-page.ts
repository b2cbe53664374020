import { dirname } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { packageFile } from "../../util/package-files.js";
import { compressResponses } from "../send.js";
import { ICON } from "../rest/docs.js";

const PATH = "/console";
const ICON_PATH = `${PATH}/icon.svg`;

/** The routes of the page, as they are registered. They show nothing of the registry, so they need no token. */
export const CONSOLE_PATHS: readonly string[] = ["/", PATH, `${PATH}/*`, ICON_PATH];

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** A browser asks each time, and gets 304. */
const HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};

/** The operator's console: a page that reads only the services of the same port. `npm run build` makes its files. */
export function consolePage(compresses: boolean) {
  return async (server: FastifyInstance): Promise<void> => {
    if (compresses) await compressResponses(server);
    server.addHook("onRequest", async (_request, reply) => void reply.headers(HEADERS));
    await server.register(fastifyStatic, {
      root: dirname(packageFile("#console/index.html")),
      prefix: `${PATH}/`,
      cacheControl: false,
      allowedPath: (path) => /\.(?:css|html|js)$/.test(path),
    });
    server.get("/", (_request, reply) => reply.redirect(PATH));
    server.get(PATH, (_request, reply) => reply.sendFile("index.html"));
    server.get(ICON_PATH, (_request, reply) => reply.type("image/svg+xml").send(ICON));
  };
}
