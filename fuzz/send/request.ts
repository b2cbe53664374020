/** Requests as the clients of Node.js send them, by HTTP/1.1 or HTTP/2. */
import http from "node:http";
import { brief, hex, type Input, type Outcome } from "../input.js";
import { wrongWith } from "./oracle.js";
import type { Answer, Target } from "./target.js";

/** A request that a client is able to send, whatever the service thinks of it. */
export interface Request {
  readonly version: 1 | 2;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A body that is larger need not be read to its end: the connection may be cut before the answer has been. */
const READ_TO_END = 1024 * 1024;

/** An input that is a request. */
export function asking(request: Request): Input {
  return {
    send: (target) => outcomeOf(target, request),
    show() {
      const { version, method, path, headers, body } = request;
      return `HTTP/${version} ${method} ${brief(path)}\n${brief(JSON.stringify(headers))}\nbody: ${hex(body)}`;
    },
  };
}

async function outcomeOf(target: Target, request: Request): Promise<Outcome> {
  const since = performance.now();
  let answer: Answer;
  try {
    answer = await ask(target, request, false).catch(() => ask(target, request, true));
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    if (request.body.length > READ_TO_END) return { came: "cut" };
    return { came: "nothing", wrong: `no answer, on a connection of its own neither: ${told}` };
  }
  target.took(since);
  const wrong = wrongWith(request, answer);
  return { came: String(answer.status), ...(wrong !== undefined && { wrong }) };
}

/** Headers as texts, also those that are lists or numbers. */
const textsOf = (headers: object): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** Asks once. A connection that was kept may be closed just then, so that who fails asks anew on one of its own. */
export async function ask(target: Target, request: Request, isFresh: boolean): Promise<Answer> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), target.limitMs);
  try {
    return await (request.version === 1 ? askHttp1 : askHttp2)(target, request, isFresh, stop.signal);
  } catch (error) {
    throw stop.signal.aborted ? new Error(`none within ${target.limitMs} ms`, { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}

type Ask = (target: Target, request: Request, isFresh: boolean, signal: AbortSignal) => Promise<Answer>;

const askHttp1: Ask = ({ host, port, agent }, { method, path, headers, body }, isFresh, signal) =>
  new Promise((resolve, reject) => {
    const length =
      body.length > 0 && headers["transfer-encoding"] === undefined ? { "content-length": body.length } : {};
    const asked = http.request(
      { host, port, method, path, signal, agent: isFresh ? false : agent, headers: { ...headers, ...length } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: textsOf({ ...response.headers, ...response.trailers }),
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    asked.on("error", reject);
    asked.end(body.length > 0 ? body : undefined);
  });

const askHttp2: Ask = (target, { method, path, headers, body }, isFresh, signal) =>
  new Promise((resolve, reject) => {
    const stream = target
      .session(isFresh)
      .request({ ":method": method, ":path": path, ...headers }, { endStream: body.length === 0, signal });
    const chunks: Buffer[] = [];
    let all: Record<string, string> = {};
    const note = (more: object) => {
      all = { ...all, ...textsOf(more) };
    };
    stream.on("response", note).on("trailers", note).on("error", reject);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("close", () => {
      const status = Number(all[":status"] ?? 0);
      if (status === 0) reject(new Error(`the stream was closed with code ${stream.rstCode} and no answer`));
      else resolve({ status, headers: all, body: Buffer.concat(chunks) });
    });
    if (body.length > 0) stream.end(body);
  });
