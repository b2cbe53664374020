import type { DescService, MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import {
  Health,
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus as Status,
  type HealthCheckResponseSchema,
} from "../../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionV1Alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import type { ServiceBinding } from "../../service/service-binding.js";
import { abortablePause } from "../../util/async.js";
import { rejection } from "../errors.js";
import { Streams } from "../watch/streams.js";
import { reflection } from "./reflection.js";

/** What clients may use of health and reflection; `watches` and `reflections` bound the concurrent streams. */
const DEFAULT_LIMITS = {
  /** Maximum request message, in bytes: names and numbers need little. */
  messageBytes: 64 * 1024,
  /** Polling interval of the readiness, by a watch. */
  pollMs: 500,
  watches: 100,
  /** Maximum duration of a watch. It bounds streams whose client is gone without closing them. */
  watchMs: 60 * 60 * 1000,
  reflections: 100,
  reflectionMs: 60 * 1000,
  /** Requests on one reflection stream. */
  requests: 1000,
};
export type StreamLimits = Readonly<typeof DEFAULT_LIMITS>;

interface StandardServicesOptions {
  /** The other services of the server. */
  readonly services: readonly DescService[];
  /** Why the service is not ready; undefined where it is. */
  readonly notReadyReason: () => string | undefined;
  readonly limits?: Partial<StreamLimits>;
}

export interface StandardServices {
  /** Of the unary rpcs. */
  readonly bindings: readonly ServiceBinding[];
  /** Adds the streams. */
  register(router: ConnectRouter): void;
  /** Ends all open streams; new ones are refused. */
  close(): void;
}

/** What every gRPC server is expected to have: grpc.health.v1.Health, and grpc.reflection v1 and v1alpha. */
export function standardServices(options: StandardServicesOptions): StandardServices {
  const { services, notReadyReason } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const watches = new Streams("watches", limits.watches, limits.watchMs);
  const reflections = new Streams("reflection streams", limits.reflections, limits.reflectionMs);
  const served = [...services, Health, ServerReflection, ServerReflectionV1Alpha];
  const names = served.map(({ typeName }) => typeName);
  const { watch, ...unary } = health(names, () => notReadyReason() === undefined, watches, limits.pollMs);
  return {
    bindings: [{ service: Health, handlerOf: ({ localName }) => unary[localName as keyof typeof unary] }],
    register(router) {
      const handlerOptions = { readMaxBytes: limits.messageBytes };
      router.rpc(Health.method.watch, watch, handlerOptions);
      const serverReflectionInfo = reflection(served, reflections, limits.requests);
      router
        .service(ServerReflection, { serverReflectionInfo }, handlerOptions)
        .service(ServerReflectionV1Alpha, { serverReflectionInfo }, handlerOptions);
    },
    close() {
      watches.close();
      reflections.close();
    },
  };
}

/** The service name that stands for the whole server. */
const SERVER = "";

/**
 * grpc.health.v1.Health. All services are ready together. `names` are the full names of the services. A watch looks every
 * `pollMs` whether the state has changed.
 */
function health(names: readonly string[], isReady: () => boolean, watches: Streams, pollMs: number) {
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
