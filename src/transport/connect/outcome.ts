/** How a request ended that connect-es has answered: each protocol says it at another place. */
import { Code } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { Protocol } from "../../telemetry/request-record.js";
import { outcomeOf } from "../errors.js";

const codes = new Map(Object.values(Code).flatMap((code) => (typeof code === "number" ? [[String(code), code]] : [])));

/** The trailers of gRPC-Web are the last message of a body, with the highest flag set. */
const TRAILERS = 0x80;
/** Flag and length before each message. */
const HEAD = 5;

/** To be asked when the answer has been sent: its trailers are not known before. `body` is what gRPC-Web sent. */
export function outcomeOfAnswer(
  { status, header, trailer }: UniversalServerResponse,
  protocol: Protocol,
  body: Buffer,
): Code | 0 {
  if (status !== 200 || protocol === "connect") return outcomeOf(status);
  const told = header?.get("grpc-status") ?? trailer?.get("grpc-status") ?? statusIn(body) ?? "0";
  // What gRPC numbers is what Connect names.
  return told === "0" ? 0 : (codes.get(told) ?? Code.Unknown);
}

function statusIn(body: Buffer): string | undefined {
  for (let at = 0; at + HEAD <= body.length; at += HEAD + body.readUInt32BE(at + 1)) {
    if (((body[at] ?? 0) & TRAILERS) === 0) continue;
    return /^grpc-status: ?(\d+)\r?$/m.exec(body.toString("latin1", at + HEAD))?.[1];
  }
  return undefined;
}
