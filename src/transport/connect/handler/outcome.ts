import { Code } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { Outcome, Protocol } from "../../../telemetry/request-record.js";
import { outcomeOf } from "../../errors.js";
import { FRAME_HEADER_BYTES, TRAILERS_FLAG } from "./universal-response.js";

const codes = new Map(Object.values(Code).flatMap((code) => (typeof code === "number" ? [[String(code), code]] : [])));

/** How a call that connect-es has served ended. `body` is the whole body of a gRPC-Web response. */
export function outcomeOfResponse(
  { status, header, trailer }: UniversalServerResponse,
  protocol: Protocol,
  body: Buffer,
): Outcome {
  if (status !== 200 || protocol === "connect") return outcomeOf(status);
  const grpcStatus = header?.get("grpc-status") ?? trailer?.get("grpc-status") ?? statusInTrailers(body) ?? "0";
  // The numbers of gRPC are those of Connect's codes.
  return grpcStatus === "0" ? 0 : (codes.get(grpcStatus) ?? Code.Unknown);
}

function statusInTrailers(body: Buffer): string | undefined {
  for (let at = 0; at + FRAME_HEADER_BYTES <= body.length; at += FRAME_HEADER_BYTES + body.readUInt32BE(at + 1)) {
    if (((body[at] ?? 0) & TRAILERS_FLAG) === 0) continue;
    return /^grpc-status: ?(\d+)\r?$/m.exec(body.toString("latin1", at + FRAME_HEADER_BYTES))?.[1];
  }
  return undefined;
}
