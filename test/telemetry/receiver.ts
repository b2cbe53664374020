/** An OTLP/HTTP receiver that parses spans in JSON and can fail or hang. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code: number; readonly message?: string };
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

export class Receiver {
  readonly spans: Span[] = [];
  /** Resource attributes of the last export. */
  resource: Readonly<Record<string, unknown>> = {};
  /** All received bodies. */
  text = "";
  requests = 0;
  /** The status to respond with; "never" leaves requests open. */
  answer: number | "never" = 200;
  readonly url: string;

  static async start(): Promise<Receiver> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const receiver = new Receiver(`http://127.0.0.1:${port}/v1/traces`);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        receiver.requests++;
        const bytes = Buffer.concat(chunks);
        const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();
        if (receiver.answer === 200) receiver.#take(text);
        if (receiver.answer === "never") return;
        response.writeHead(receiver.answer, { "content-type": "application/json" }).end("{}");
      });
    });
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    return receiver;
  }

  private constructor(url: string) {
    this.url = url;
  }

  #take(text: string): void {
    this.text += text;
    for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans) {
      this.resource = attributesOf(resource);
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
  }
}

export const attributesOf = ({ attributes }: { readonly attributes: readonly Attribute[] }): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
