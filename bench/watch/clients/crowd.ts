/** All streams of the load, half of each protocol. */
import { once } from "node:events";
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { withTimeout } from "../../wait.js";
import { registrarOf } from "../scenarios.js";
import { openEventStream } from "./event-stream.js";
import { GrpcConnection } from "./grpc-connection.js";
import { StreamLog } from "./stream-log.js";

/** Below the limit of the service. */
const STREAMS_PER_CONNECTION = 250;
const MAX_OPENING = 100;
const OPEN_TIMEOUT_MS = 120_000;
/** A service that sheds load refuses streams. */
const RETRY_MS = 200;

export interface CrowdOptions {
  readonly url: string;
  readonly streams: number;
  /** 0 for streams of all changes. */
  readonly registrars: number;
  readonly reads: boolean;
}

export class Crowd {
  readonly logs: StreamLog[] = [];
  /** Streams that were refused at first. */
  refused = 0;
  readonly #options: CrowdOptions;
  readonly #sockets: net.Socket[] = [];
  readonly #connections: Promise<GrpcConnection>[] = [];
  readonly #eventStreams: net.Socket[] = [];

  constructor(options: CrowdOptions) {
    this.#options = options;
  }

  /** Opens all streams, some at a time. Returns how long it took, in seconds. */
  async open(): Promise<number> {
    const startedAt = performance.now();
    let next = 0;
    const openInTurn = async () => {
      while (next < this.#options.streams) {
        const index = next++;
        for (let log = await this.#openStream(index); log.end !== undefined; log = await this.#openStream(index)) {
          this.logs.splice(this.logs.indexOf(log), 1);
          this.refused++;
          await delay(RETRY_MS);
        }
      }
    };
    const all = Promise.all(Array.from({ length: MAX_OPENING }, openInTurn));
    await withTimeout(OPEN_TIMEOUT_MS, "all streams are open", all);
    if (!this.#options.reads) for (const socket of this.#eventStreams) socket.pause();
    return (performance.now() - startedAt) / 1000;
  }

  /** Clients that did not read do so from now on. */
  async resume(): Promise<void> {
    for (const socket of this.#eventStreams) socket.resume();
    for (const connection of this.#connections) (await connection).resume();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async #openStream(index: number): Promise<StreamLog> {
    const { registrars } = this.#options;
    const number = registrars === 0 ? undefined : index % registrars;
    const registrar = number === undefined ? undefined : registrarOf(number, registrars);
    const log = new StreamLog(number);
    this.logs.push(log);
    if (index % 2 === 0) {
      const socket = await this.#connect();
      this.#eventStreams.push(socket);
      openEventStream(socket, registrar, log);
    } else {
      const connection = await this.#grpcConnection(Math.floor(index / 2 / STREAMS_PER_CONNECTION));
      connection.open(registrar, log);
    }
    await log.begun();
    return log;
  }

  #grpcConnection(index: number): Promise<GrpcConnection> {
    return (this.#connections[index] ??= this.#connect().then(
      (socket) => new GrpcConnection(socket, this.#options.reads),
    ));
  }

  async #connect(): Promise<net.Socket> {
    const { hostname, port } = new URL(this.#options.url);
    const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
    this.#sockets.push(socket);
    await once(socket, "connect");
    // The log of a stream says that it has ended.
    return socket.on("error", () => undefined);
  }
}
