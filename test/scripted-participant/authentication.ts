/** Reads and checks the access token of a call. */
import type { IncomingMessage } from "node:http";
import { refusal } from "./errors.js";
import type { Tokens } from "./tokens.js";

/** The only subprotocol that the server selects, offered or not. */
export const AUTH_PROTOCOL = "daml.ws.auth";
const TOKEN_PROTOCOL = "jwt.token.";

/** The token of the Authorization header or, on a WebSocket, of the first subprotocol. One in second place is not seen. */
export function tokenOf({ headers }: IncomingMessage): string | undefined {
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  if (bearer !== undefined) return bearer;
  const [first = ""] = protocolsOf(headers["sec-websocket-protocol"]);
  return first.startsWith(TOKEN_PROTOCOL) ? first.slice(TOKEN_PROTOCOL.length) : undefined;
}

export function protocolsOf(header: string | undefined): string[] {
  return (header ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Throws a Refusal if a token is required and this one is not valid. */
export function checkToken(tokens: Tokens | undefined, token: string | undefined): void {
  checkUser(tokens, token);
  if (tokens === undefined || tokens.accepts(token)) return;
  throw refusal("UNAUTHENTICATED", "The submitted request is missing or has an invalid token");
}

/** Throws a Refusal if the token is valid, and names a user that the participant does not have. */
export function checkUser(tokens: Tokens | undefined, token: string | undefined): void {
  if (tokens === undefined || !tokens.accepts(token) || tokens.hasUser(token)) return;
  throw refusal("PERMISSION_DENIED", "unknown user", { context: { ledger_api_error: "invalid token" } });
}
