/** Reads and checks the access token of a call. */
import type { IncomingMessage } from "node:http";
import { refusal } from "./errors.js";
import type { Tokens } from "./tokens.js";

/** The subprotocol that a client must offer, and the only one that the server selects. */
export const AUTH_PROTOCOL = "daml.ws.auth";
const TOKEN_PROTOCOL = "jwt.token.";

/** The token from the Authorization header or, on a WebSocket, from the subprotocols. */
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

/** Throws a Refusal if a token is required and this one is not valid. */
export function checkToken(tokens: Tokens | undefined, token: string | undefined): void {
  if (tokens === undefined || tokens.accepts(token)) return;
  throw refusal("UNAUTHENTICATED", "The submitted request is missing or has an invalid token");
}
