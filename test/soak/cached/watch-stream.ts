/** Server-sent events of the service, resumed for as long as the signal is not aborted. */
import { setTimeout as delay } from "node:timers/promises";
import type { WatchedEvent } from "./response-cache.js";

const RETRY_MS = 500;

export interface StreamObserver {
  readonly receive: (event: WatchedEvent) => void;
  readonly ended: () => void;
}

/** `query` selects changes, such as `?registrars=…`. */
export async function followChanges(
  url: string,
  query: string,
  signal: AbortSignal,
  { receive, ended }: StreamObserver,
): Promise<void> {
  let token = "";
  while (!signal.aborted) {
    try {
      const headers = token === "" ? {} : { "last-event-id": token };
      const response = await fetch(`${url}/api/offledger/v1/watch${query}`, { headers, signal });
      if (response.ok && response.body !== null) {
        for await (const block of blocksOf(response.body)) {
          const event = parse(block);
          if (event === undefined) continue;
          token = event.token;
          receive(event);
        }
      }
    } catch {
      // The service rejects streams while it is stale, and ends them when it becomes so.
    }
    ended();
    await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function* blocksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 2);
    }
  }
}

function parse(block: string): (WatchedEvent & { readonly token: string }) | undefined {
  const [, type, token, data] = /^event: (\w+)\nid: (\S+)\ndata: (.*)$/.exec(block) ?? [];
  if (type === undefined || token === undefined || data === undefined) return undefined;
  const { generation, offset, changed } = JSON.parse(data) as {
    generation: string;
    offset: string;
    changed?: { tags?: string[] };
  };
  return { type, token, generation, offset: Number(offset), tags: changed?.tags ?? [] };
}
