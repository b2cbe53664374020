import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus as Status,
  type HealthCheckResponseSchema,
} from "../../../gen/grpc/health/v1/health_pb.js";
import { abortablePause } from "../../util/async.js";
import { rejection } from "../errors.js";
import type { Streams } from "../watch/streams.js";

/** The service name that stands for the whole server. */
const SERVER = "";

/**
 * grpc.health.v1.Health. All services are ready together. `names` are the full names of the services. A watch looks every
 * `pollMs` whether the state has changed.
 */
export function health(names: readonly string[], isReady: () => boolean, watches: Streams, pollMs: number) {
  const known = new Set([SERVER, ...names]);
  // Clients should go elsewhere during shutdown.
  const status = () => (isReady() && !watches.isClosing ? Status.SERVING : Status.NOT_SERVING);
  return {
    check({ service }: HealthCheckRequest) {
      if (!known.has(service)) throw rejection("NOT_FOUND", `service ${service} is not served here`);
      return { status: status() };
    },

    list: () => ({ statuses: Object.fromEntries([...known].map((name) => [name, { status: status() }])) }),

    watch: async function* (
      this: void,
      { service }: HealthCheckRequest,
      { signal: client }: { readonly signal: AbortSignal },
    ) {
      const { signal, end } = watches.begin(client);
      try {
        yield* changes(known.has(service) ? status : () => Status.SERVICE_UNKNOWN, signal, pollMs);
        throw signal.reason;
      } finally {
        end();
      }
    },
  };
}

/** The status, and each change of it, until the signal aborts. */
async function* changes(
  status: () => Status,
  signal: AbortSignal,
  pollMs: number,
): AsyncGenerator<MessageInitShape<typeof HealthCheckResponseSchema>> {
  const pause = abortablePause(signal);
  let sent: Status | undefined;
  for (;;) {
    const current = status();
    if (current !== sent) yield { status: (sent = current) };
    if (signal.aborted) return;
    // oxlint-disable-next-line no-await-in-loop
    await pause(pollMs);
  }
}
