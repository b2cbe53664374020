/** What an answer may not be: the service's own fault. */
import type { Request } from "./request.js";
import type { Answer } from "./target.js";

/** unknown, internal, unavailable, data_loss: no caller is to blame for them. */
const OURS = new Set(["2", "13", "14", "15"]);

/** What Connect and gRPC prescribe for framing that they do not allow; docs/errors.md names it. */
const PRESCRIBED = /^(protocol error: )?received compressed envelope|^protocol error: |^unknown compression /;

const NAMED = ["connect-timeout-ms", "grpc-timeout"];

/** Says what is wrong with an answer; undefined where nothing is. */
export function wrongWith(request: Request, answer: Answer): string | undefined {
  return wrongStatus(request, answer) ?? wrongGrpcStatus(answer);
}

function wrongStatus({ headers, path }: Request, { status, body }: Answer): string | undefined {
  if (status >= 200 && status < 500) return undefined;
  const said = `status ${status}: ${body.toString("utf8", 0, 300)}`;
  if (status === 503 && path === "/readyz") return undefined;
  const { code, message = "" } = connectErrorIn(body);
  // Who gives no time gets no answer.
  if (status === 504 && code === "deadline_exceeded" && NAMED.some((name) => name in headers)) return undefined;
  if (status === 501 && code === "unimplemented" && PRESCRIBED.test(message)) return undefined;
  return said;
}

function connectErrorIn(body: Buffer): { code?: string; message?: string } {
  try {
    return Object(JSON.parse(body.toString())) as object;
  } catch {
    return {};
  }
}

function wrongGrpcStatus(answer: Answer): string | undefined {
  const [code, message] = grpcStatusIn(answer);
  if (code === undefined || !OURS.has(code) || (code === "13" && PRESCRIBED.test(message))) return undefined;
  return `grpc-status ${code}: ${message}`;
}

/** The status that gRPC tells in headers, trailers, or, on the web, in the last message of the body. */
function grpcStatusIn({ headers, body }: Answer): readonly [code: string | undefined, message: string] {
  const { "content-type": type = "", "grpc-status": status, "grpc-message": said = "" } = headers;
  if (status !== undefined) return [status, decoded(said)];
  if (!type.startsWith("application/grpc-web")) return [undefined, ""];
  const text = (type.includes("-text") ? Buffer.from(body.toString(), "base64") : body).toString("latin1");
  const message = /grpc-message: ?(.*)\r/i.exec(text)?.[1] ?? "";
  return [/grpc-status: ?(\d+)/i.exec(text)?.[1], decoded(message)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
