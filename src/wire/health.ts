import type { FastifyInstance } from "fastify";

/**
 * `/livez`: the process answers. `/readyz`: it may be sent requests, else 503
 * with the reason. `unreadiness` gives that reason, or undefined.
 */
export function health(unreadiness: () => string | undefined) {
  return async (server: FastifyInstance): Promise<void> => {
    server.get("/livez", async () => ({ status: "ok" }));
    server.get("/readyz", async (_request, reply) => {
      const reason = unreadiness();
      if (reason === undefined) return { status: "ok" };
      return reply.code(503).header("retry-after", "1").send({ status: "not ready", reason });
    });
  };
}
