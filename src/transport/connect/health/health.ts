import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import {
  type Health,
  HealthCheckResponse_ServingStatus as Status,
  type HealthCheckResponseSchema,
} from "../../../../gen/grpc/health/v1/health_pb.js";
import type { Readiness } from "./readiness.js";
import type { Streams } from "../streams/streams.js";

/** The name that stands for the server as a whole. */
const WHOLE = "";

/** grpc.health.v1.Health: all services are ready together, or none is. `names` are the full names of those that are served. */
export function health(names: readonly string[], readiness: Readiness, watches: Streams): ServiceImpl<typeof Health> {
  const known = new Set([WHOLE, ...names]);
  // Who still asks while the service stops had better ask elsewhere.
  const status = () => (readiness.isReady && !watches.isClosing ? Status.SERVING : Status.NOT_SERVING);
  return {
    check({ service }) {
      if (!known.has(service)) throw new ConnectError(`${service} is not served here`, Code.NotFound);
      return { status: status() };
    },

    list: () => ({ statuses: Object.fromEntries([...known].map((name) => [name, { status: status() }])) }),

    async *watch({ service }, { signal: caller }) {
      const { signal, end } = watches.begin(caller);
      try {
        if (!known.has(service)) {
          yield { status: Status.SERVICE_UNKNOWN };
          await aborted(signal);
        } else yield* states(signal);
        throw signal.reason;
      } finally {
        end();
      }
    },
  };

  /** The state, and each that comes after it, until the signal aborts. */
  async function* states(signal: AbortSignal): AsyncGenerator<MessageInitShape<typeof HealthCheckResponseSchema>> {
    let told: Status | undefined;
    for (;;) {
      const now = status();
      if (now !== told) yield { status: (told = now) };
      if (signal.aborted) return;
      await readiness.change(told === Status.SERVING, signal);
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
