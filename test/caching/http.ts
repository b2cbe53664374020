/** Requests of a client that keeps responses, and the server-sent events that it follows. */
import type { HttpResponse, ServerSentEvent } from "./documented-client.js";

export interface HttpCall {
  readonly path: string;
  /** Undefined for GET. */
  readonly body?: unknown;
}

/** `etag` is that of a response which the client has. */
export async function send(url: string, { path, body }: HttpCall, etag = ""): Promise<HttpResponse> {
  const headers = { "content-type": "application/json", "offledger-if-none-match": etag };
  const posted = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(url + path, { headers, ...posted });
  return { status: response.status, headers: new Map(response.headers), body: await response.text() };
}

/** The events of a stream, until it ends. Throws where it is cut. */
export async function* events(url: string, resumeToken: string, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
  const headers: Record<string, string> = resumeToken === "" ? {} : { "last-event-id": resumeToken };
  const response = await fetch(`${url}/api/offledger/v1/watch`, { headers, signal });
  if (!response.ok || response.body === null) return;
  let text = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
      // The first block only has the time to retry after.
      const [event, data] = [fields.get("event"), fields.get("data")];
      if (event !== undefined && data !== undefined) yield { event, data };
    }
  }
}
