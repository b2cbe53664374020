import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../../../gen/google/rpc/error_details_pb.js";
import { Health } from "../../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionV1Alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { DEFAULT_STREAM_LIMITS, type StreamLimits, Streams } from "../watch/streams.js";
import { health } from "./health/health.js";
import { Readiness } from "./health/readiness.js";
import { Descriptors } from "./reflection/descriptors.js";
import { documentedFiles } from "./reflection/documented-files.js";
import { reflection } from "./reflection/reflection.js";

/** No service imports them, but clients decode errors with them. */
const ERROR_DETAILS = [file_google_rpc_error_details];

export interface StandardServicesOptions {
  /** The other services of the server. */
  readonly services: readonly DescService[];
  /** Why the service is not ready; undefined where it is. */
  readonly notReadyReason: () => string | undefined;
  /** A descriptor set with comments, for reflection; read on first use. */
  readonly descriptorSet: () => Uint8Array;
  /** Whether clients may read the definitions of the services. */
  readonly reflection: boolean;
  readonly limits?: Partial<StreamLimits>;
}

export interface StandardServices {
  register(router: ConnectRouter): void;
  /** Ends all open streams; new ones are refused. */
  close(): void;
}

/** What every gRPC server is expected to have: grpc.health.v1.Health, and grpc.reflection v1 and v1alpha. */
export function standardServices(options: StandardServicesOptions): StandardServices {
  const { services, notReadyReason, descriptorSet, reflection: isReflected } = options;
  const limits = { ...DEFAULT_STREAM_LIMITS, ...options.limits };
  const watches = new Streams("watches", limits.watches, limits.watchMs);
  const reflections = new Streams("reflection streams", limits.reflections, limits.reflectionMs);
  const served = [...services, Health, ...(isReflected ? [ServerReflection, ServerReflectionV1Alpha] : [])];
  return {
    register(router) {
      const names = served.map(({ typeName }) => typeName);
      const handlerOptions = { readMaxBytes: limits.messageBytes };
      router.service(Health, health(names, new Readiness(notReadyReason, limits.pollMs), watches), handlerOptions);
      if (!isReflected) return;
      // Built on first use: it takes some milliseconds.
      let descriptors: Descriptors | undefined;
      const build = () => new Descriptors(served, documentedFiles(descriptorSet()), ERROR_DETAILS);
      const serverReflectionInfo = reflection(() => (descriptors ??= build()), reflections, limits);
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
