import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Health,
  HealthCheckResponse_ServingStatus as Status,
  type HealthCheckResponseSchema,
} from "../../../../gen/grpc/health/v1/health_pb.js";
import { rejection } from "../../errors.js";
import type { Streams } from "../../watch/streams.js";
import type { Readiness } from "./readiness.js";

/** The service name that stands for the whole server. */
const SERVER = "";

/** grpc.health.v1.Health. All services are ready together. `names` are the full names of the services. */
export function health(names: readonly string[], readiness: Readiness, watches: Streams): ServiceImpl<typeof Health> {
  const known = new Set([SERVER, ...names]);
  // Clients should go elsewhere during shutdown.
  const status = () => (readiness.isReady && !watches.isClosing ? Status.SERVING : Status.NOT_SERVING);
  return {
    check({ service }) {
      if (!known.has(service)) throw rejection("NOT_FOUND", `service ${service} is not served here`);
      return { status: status() };
    },

    list: () => ({ statuses: Object.fromEntries([...known].map((name) => [name, { status: status() }])) }),

    async *watch({ service }, { signal: client }) {
      const { signal, end } = watches.begin(client);
      try {
        if (known.has(service)) yield* changes(signal);
        else {
          yield { status: Status.SERVICE_UNKNOWN };
          await aborted(signal);
        }
        throw signal.reason;
      } finally {
        end();
      }
    },
  };

  async function* changes(signal: AbortSignal): AsyncGenerator<MessageInitShape<typeof HealthCheckResponseSchema>> {
    let sent: Status | undefined;
    for (;;) {
      const current = status();
      if (current !== sent) yield { status: (sent = current) };
      if (signal.aborted) return;
      await readiness.changeFrom(sent === Status.SERVING, signal);
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
