import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendStatic } from "../static/send-static.js";
import { type ConsoleFiles, readConsoleFiles } from "./console-files.js";

const PATH = "/console";
const FILES = `${PATH}/*`;

/** The routes of the page, as they are registered. They show nothing of the registry, so they need no token. */
export const CONSOLE_PATHS: readonly string[] = ["/", PATH, FILES];

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

/** The operator's console: a page that reads only the services of the same port. */
export function consolePage(compresses: boolean) {
  return async (server: FastifyInstance): Promise<void> => {
    let files: ConsoleFiles | undefined;
    const send = async (request: FastifyRequest, reply: FastifyReply, name: string): Promise<void> => {
      // On the first request: the start does not need them.
      const content = (files ??= readConsoleFiles()).get(name);
      if (content === undefined) reply.callNotFound();
      else await sendStatic(request, reply, content, { compresses, headers: HEADERS });
    };
    server.get("/", (_request, reply) => reply.redirect(PATH));
    server.get(PATH, (request, reply) => send(request, reply, "index.html"));
    server.get<{ Params: { "*": string } }>(FILES, (request, reply) => send(request, reply, request.params["*"]));
  };
}
