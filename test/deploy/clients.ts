/** Clients behind a proxy, of every protocol, and load by them. */
import http2 from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { type DescMessage, fromBinary, fromJson, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Client, credentials } from "@grpc/grpc-js";
import { onTestFinished } from "vitest";
import { WatchService } from "../../gen/offledger/watch/v1/watch_service_pb.js";
import type { Call } from "../fixtures/protocols.js";
import { until } from "../fixtures/wait.js";
import { ask, type RunningProxy } from "./proxies.js";

export const WATCH = "/api/offledger/v1/watch";
export const JSON_TYPE = { "content-type": "application/json" };

export const transports = ({ url: baseUrl, ca }: RunningProxy): Readonly<Record<string, Transport>> => ({
  Connect: createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { ca } }),
  "Connect over HTTP/2": createConnectTransport({ baseUrl, httpVersion: "2", nodeOptions: { ca } }),
  "gRPC-Web": createGrpcWebTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { ca } }),
  gRPC: createGrpcTransport({ baseUrl, nodeOptions: { ca } }),
});

export function connectHttp2({ url, ca }: RunningProxy, localAddress = "127.0.0.1"): http2.ClientHttp2Session {
  const options = { ca, localAddress };
  const session = http2.connect(url, options).on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** A call by @grpc/grpc-js, on one connection. */
export function grpcCaller({ port, ca }: RunningProxy, { method, request }: Call): () => Promise<string> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createSsl(Buffer.from(ca)));
  onTestFinished(() => client.close());
  const path = `/${method.parent.typeName}/${method.name}`;
  const message = toBinary(method.input, fromJson(method.input, request));
  const read = (bytes: Buffer): Message => fromBinary<DescMessage>(method.output, bytes);
  return () =>
    new Promise((resolve, reject) => {
      const deadline = Date.now() + 20_000;
      client.makeUnaryRequest(
        path,
        (one: Uint8Array) => Buffer.from(one),
        read,
        message,
        { deadline },
        (error, it) =>
          error === null && it !== undefined
            ? resolve(toJsonString(method.output, it))
            : reject(error ?? new Error("none")),
      );
    });
}

/** The stream of changes: server-sent events, and by RPC. */
function watchStreams(running: RunningProxy, signal: AbortSignal): readonly (() => AsyncIterable<unknown>)[] {
  const session = connectHttp2(running);
  const rpc = Object.values(transports(running)).map((transport) => createClient(WatchService, transport));
  return [
    () => session.request({ ":path": WATCH }, { signal }),
    ...rpc.map((client) => () => client.watch({}, { signal })),
  ];
}

/** Half of them of REST, half of gRPC. */
export const CALLERS = 4;

export interface Load {
  readonly failures: readonly string[];
  /** Responses so far, of both protocols. */
  readonly count: () => number;
  /** How often streams have begun, which go on when their replica has ended. */
  readonly streams: () => number;
  /** Waits for a number of further responses of each protocol, and for each stream. */
  goesOn(count: number): Promise<void>;
  end(): Promise<void>;
}

/** Repeats a call, and watches, until it is ended, at the latest with the test. */
export function startLoad(running: RunningProxy, call: Call, pauseMs = 25): Load {
  const stop = new AbortController();
  const failures: string[] = [];
  const served = { REST: 0, gRPC: 0 };
  const repeat = async (protocol: keyof typeof served, send: () => Promise<unknown>): Promise<void> => {
    while (!stop.signal.aborted) {
      await send().then(
        () => served[protocol]++,
        (error: unknown) => failures.push(`${protocol}: ${String(error)}`),
      );
      await pause(pauseMs);
    }
  };
  const body = call.body === undefined ? {} : { body: JSON.stringify(call.body), headers: JSON_TYPE };
  const rest = async (): Promise<void> => {
    const { status, body: text } = await ask(running, call.path, { ...body, from: "127.0.0.2" });
    if (status !== 200) throw new Error(`${status} ${text}`);
  };
  const streams = watchStreams(running, stop.signal).map((open) => ({ open, begun: 0, isOpen: false }));
  const watch = async (stream: (typeof streams)[number]): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        for await (const _event of stream.open()) {
          if (!stream.isOpen) stream.begun++;
          stream.isOpen = true;
        }
      } catch {
        // Its replica has stopped.
      }
      stream.isOpen = false;
      await pause(100);
    }
  };
  const callers = Array.from({ length: CALLERS / 2 }, () => [
    repeat("REST", rest),
    repeat("gRPC", grpcCaller(running, call)),
  ]);
  const ended = Promise.all([...callers.flat(), ...streams.map(watch)]);
  const end = async (): Promise<void> => {
    stop.abort();
    await ended;
  };
  onTestFinished(end);
  return {
    failures,
    count: () => served.REST + served.gRPC,
    streams: () => streams.reduce((sum, { begun }) => sum + begun, 0),
    async goesOn(count) {
      const { REST, gRPC } = served;
      // Failures are shown at the end, not as a wait in vain.
      await until(
        `${count} more responses`,
        () => Math.min(served.REST - REST, served.gRPC - gRPC) >= count || failures.length > 100,
        60_000 + count * 100,
      );
      await until("each stream is open", () => streams.every(({ isOpen }) => isOpen));
    },
    end,
  };
}
