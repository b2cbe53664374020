/** The services that every gRPC server is expected to have: health and reflection. */
import type { DescService } from "@bufbuild/protobuf";
import { createConnectRouter } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import type { FastifyInstance } from "fastify";
import { Health } from "../../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionV1Alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Descriptors } from "./reflection/descriptors.js";
import { health } from "./health/health.js";
import { type StreamLimits, DEFAULT_STREAM_LIMITS } from "./streams/limits.js";
import { mount } from "./mount.js";
import { Readiness } from "./health/readiness.js";
import { reflection } from "./reflection/reflection.js";
import { Streams } from "./streams/streams.js";

/** The largest that connect-es allows: no answer of the service is compressed. */
const NEVER_COMPRESS = 0xffffffff;

export interface StandardServicesOptions {
  /** The services that the server has besides. */
  readonly services: readonly DescService[];
  /** Why the service is not ready; undefined where it is. */
  readonly notReadyReason: () => string | undefined;
  /** Whether clients are told the definitions of the services; yes where it is not said. */
  readonly reflects?: boolean;
  /** Told of what is a defect of ours. */
  readonly report: (defect: unknown) => void;
  /** In place of the usual ones. */
  readonly limits?: Partial<StreamLimits>;
}

/**
 * A plugin that serves grpc.health.v1.Health and grpc.reflection v1 and v1alpha, by
 * every protocol. Streams that are open end when the server closes.
 */
export function standardServices({
  services,
  notReadyReason,
  reflects = true,
  report,
  limits: other,
}: StandardServicesOptions) {
  return async (server: FastifyInstance): Promise<void> => {
    const limits = { ...DEFAULT_STREAM_LIMITS, ...other };
    const watches = new Streams("watches", limits.watches, limits.watchMs);
    const reflections = new Streams("streams of reflection", limits.reflections, limits.reflectionMs);
    const served = [...services, Health, ...(reflects ? [ServerReflection, ServerReflectionV1Alpha] : [])];
    const names = served.map(({ typeName }) => typeName);
    let descriptors: Descriptors | undefined;
    const reflect = reflection(() => (descriptors ??= new Descriptors(served)), reflections, limits);

    const router = createConnectRouter({
      readMaxBytes: limits.messageBytes,
      acceptCompression: [compressionGzip],
      compressMinBytes: NEVER_COMPRESS,
    }).service(Health, health(names, new Readiness(notReadyReason, limits.lookMs), watches));
    if (reflects) {
      router
        .service(ServerReflection, { serverReflectionInfo: reflect })
        .service(ServerReflectionV1Alpha, { serverReflectionInfo: reflect });
    }
    mount(server, router, report);

    server.addHook("preClose", (done) => {
      watches.close();
      reflections.close();
      done();
    });
  };
}
