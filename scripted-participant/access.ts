/** Who may call: tokens, and where a call carries them. */
import type { IncomingMessage } from "node:http";
import { refusal } from "./errors.js";
import type { Tokens } from "./tokens.js";

/** The subprotocol that a client has to offer, and the only one that the server answers with. */
export const AUTH_PROTOCOL = "daml.ws.auth";
const TOKEN_PROTOCOL = "jwt.token.";

/** The token of a call: the header's, or else, on a WebSocket, that among the subprotocols. */
export function tokenOf({ headers }: IncomingMessage): string | undefined {
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  return (
    bearer ??
    protocolsOf(headers["sec-websocket-protocol"])
      .find((name) => name.startsWith(TOKEN_PROTOCOL))
      ?.slice(TOKEN_PROTOCOL.length)
  );
}

export function protocolsOf(header: string | undefined): string[] {
  return (header ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Throws where a token is wanted and this is none that is good. */
export function checkToken(tokens: Tokens | undefined, token: string | undefined): void {
  if (tokens === undefined || tokens.accepts(token)) return;
  throw refusal("UNAUTHENTICATED", "The submitted request is missing or has an invalid token");
}
