/** Injects faults between the service and the participant: a TCP proxy cuts connections and holds back data. */
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../ingest/database/random.js";
import type { Participant } from "../scripted-participant/participant.js";
import type { OutageLog } from "./oracle.js";
import type { World } from "./world.js";

export class Network {
  readonly url: string;
  readonly #server: net.Server;
  readonly #sockets: ReadonlySet<net.Socket>;
  readonly #state: { isSilent: boolean };

  static async to(address: string): Promise<Network> {
    const { hostname, port } = new URL(address);
    const sockets = new Set<net.Socket>();
    const state = { isSilent: false };
    const server = net.createServer((near) => {
      const far = net.connect({ host: hostname, port: Number(port) });
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from);
        from.pipe(to).on("error", () => undefined);
        from.on("close", () => {
          sockets.delete(from);
          to.destroy();
        });
        if (state.isSilent) cork(from);
      }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = new URL(address);
    url.port = String((server.address() as AddressInfo).port);
    return new Network(url.href, server, sockets, state);
  }

  private constructor(url: string, server: net.Server, sockets: ReadonlySet<net.Socket>, state: { isSilent: boolean }) {
    this.url = url;
    this.#server = server;
    this.#sockets = sockets;
    this.#state = state;
  }

  /** Closes every connection, with FIN or a reset. */
  disconnect(isReset: boolean): void {
    for (const socket of this.#sockets) {
      if (isReset) socket.resetAndDestroy();
      else socket.destroy();
    }
  }

  /** Holds back data in both directions, also on new connections. */
  holdBack(): void {
    this.#state.isSilent = true;
    for (const socket of this.#sockets) cork(socket);
  }

  resume(): void {
    this.#state.isSilent = false;
    for (const socket of this.#sockets) socket.uncork();
  }

  async close(): Promise<void> {
    const waitForClose = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await waitForClose;
  }
}

/** Buffers writes to the socket; the pipe into it pauses at the high-water mark. */
function cork(socket: net.Socket): void {
  if (socket.writableCorked === 0) socket.cork();
}

interface FaultInjectorOptions {
  readonly world: World;
  readonly participant: Participant;
  readonly network: Network;
  readonly outages: OutageLog;
  readonly random: Random;
  readonly intervalMs: number;
  /** A silence longer than the staleness limit makes the service reject requests. */
  readonly maxSilenceMs: number;
}

export class FaultInjector {
  readonly counts: Record<string, number> = {};
  readonly #options: FaultInjectorOptions;

  constructor(options: FaultInjectorOptions) {
    this.#options = options;
  }

  /** Injects faults until the signal is aborted; ends the last one before it resolves. */
  async run(signal: AbortSignal): Promise<void> {
    const { random, intervalMs, participant, outages } = this.#options;
    const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
    const waitForNext = () => pause(intervalMs * (0.5 + random.next()));
    for (await waitForNext(); !signal.aborted; await waitForNext()) {
      const endOutage = outages.begin();
      try {
        await this.#inject(pause);
      } finally {
        endOutage();
        // The participant records its requests, which would grow without bound.
        participant.requests.length = 0;
      }
    }
  }

  /** Prunes the ledger and cuts the connections, so that the service has to take a new snapshot. */
  prune(): void {
    const { world, network, outages } = this.#options;
    const endOutage = outages.begin();
    network.disconnect(false);
    world.commitUnseen();
    world.ledger.prune(world.end);
    endOutage();
    this.#count("pruned");
  }

  async #inject(pause: (ms: number) => Promise<unknown>): Promise<void> {
    const { network, participant, random, maxSilenceMs } = this.#options;
    const kind = random.below(10);
    if (kind < 2) {
      network.disconnect(kind === 0);
      return this.#count("disconnected");
    }
    if (kind < 5) {
      // One silence in three is long enough to be treated as a lost connection.
      const isLong = random.below(3) === 0;
      network.holdBack();
      await pause(maxSilenceMs * (isLong ? 0.7 + random.next() * 0.3 : random.next() / 5));
      network.resume();
      return this.#count(isLong ? "long silence" : "silence");
    }
    if (kind < 7) {
      // Unavailable: the participant hangs up, or a proxy responds with 503.
      if (kind === 5) participant.faults.hangUp({ times: 3 });
      else participant.faults.refuse(503, { times: 6 });
      network.disconnect(true);
      await pause(maxSilenceMs / 10);
      participant.faults.clear();
      return this.#count("unavailable");
    }
    if (participant.streams === 0) return;
    const open = { streams: "open" } as const;
    if (kind === 7) participant.faults.halfFrame(open);
    else if (kind === 8) participant.faults.close(open);
    else participant.faults.halfJson(open);
    this.#count("stream broken");
  }

  #count(fault: string): void {
    this.counts[fault] = (this.counts[fault] ?? 0) + 1;
  }
}
