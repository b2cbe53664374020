import { HealthService } from "../../gen/offledger/health/v1/health_service_pb.js";
import { unavailable } from "../domain/errors.js";
import { bind, type ServiceBinding } from "./service-binding.js";

/** Liveness and readiness. `notReadyReason` returns undefined if the service is ready. */
export function health(notReadyReason: () => string | undefined): ServiceBinding {
  return bind(HealthService, {
    getLiveness: async () => ({ status: "ok" }),
    async getReadiness() {
      const reason = notReadyReason();
      if (reason !== undefined) throw unavailable(`not ready: ${reason}`);
      return { status: "ok" };
    },
  });
}
