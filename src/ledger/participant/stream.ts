import { WebSocket } from "ws";
import type { JsonValue } from "../../store/store.js";
import { LedgerError, messageError } from "./errors.js";
import { type Endpoint, noted, type Patience, patience, tokenOf, urlOf } from "./http.js";
import { Inbox } from "./inbox.js";

/** Largest message: one update, which may create many contracts. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/**
 * Opens a stream: sends one request, and gives each message that comes back.
 * Ends when the server closes it in order; throws LedgerError where it sends an
 * error, is silent, or the connection is cut. A stream that `hasEnd` counts as
 * silent also where pings are answered and messages do not come. Leaving the
 * loop, or aborting the endpoint, closes it.
 */
export async function* stream(
  endpoint: Endpoint,
  path: string,
  request: JsonValue,
  hasEnd: boolean,
): AsyncGenerator<JsonValue> {
  const waits = { ...patience, ...endpoint.patience };
  const socket = connect(endpoint, path, await tokenOf(endpoint), waits);
  const inbox = new Inbox(socket, waits.ping, hasEnd ? waits.message : Infinity);
  const { signal } = endpoint;
  const abort = () => socket.terminate();
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) return;
    socket.once("open", () => socket.send(JSON.stringify(request)));
    for await (const text of inbox.messages()) yield message(text);
  } catch (error) {
    throw error instanceof LedgerError ? noted(endpoint, error) : error;
  } finally {
    signal.removeEventListener("abort", abort);
    inbox.close();
  }
}

function connect(endpoint: Endpoint, path: string, token: string | undefined, { open }: Patience): WebSocket {
  const url = urlOf(endpoint, path);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  // A participant answers with the first of these whether or not there is a token, so it has to be offered.
  const protocols = ["daml.ws.auth", ...(token === undefined ? [] : [`jwt.token.${token}`])];
  return new WebSocket(url, protocols, {
    handshakeTimeout: open,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    ...(endpoint.ca === undefined ? {} : { ca: endpoint.ca }),
  });
}

/** A message as JSON. Throws the error that it tells, or that it is none. */
function message(text: string): JsonValue {
  let value: JsonValue;
  try {
    // JSON.parse gives nothing but JSON values.
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw new LedgerError("unreadable", "the participant sent a message that is not JSON");
  }
  const error = messageError(value);
  if (error !== undefined) throw error;
  return value;
}
