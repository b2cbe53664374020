import { HealthService } from "../../gen/offledger/health/v1/health_service_pb.js";
import { unavailable } from "../registry/errors.js";
import { offer, type Offered } from "./handlers.js";

/** Whether the service lives, and may be sent requests: `unreadiness` says why not. */
export function health(unreadiness: () => string | undefined): Offered[] {
  return [
    offer(HealthService, {
      getLiveness: async () => ({ status: "ok" }),
      async getReadiness() {
        const reason = unreadiness();
        if (reason !== undefined) throw unavailable(`not ready: ${reason}`);
        return { status: "ok" };
      },
    }),
  ];
}
