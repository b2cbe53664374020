import { isIPv4 } from "node:net";
import type { FastifyInstance } from "fastify";

/** Whether an address that a server listens on is reached from this machine only. */
const isLoopback = (address: string): boolean => address === "::1" || isLoopbackIPv4(address.replace(/^::ffff:/i, ""));

const isLoopbackIPv4 = (address: string): boolean => isIPv4(address) && address.startsWith("127.");

/** Returns whether all addresses of a server are reached from this machine only; false before it listens. */
export function boundToLoopback(server: FastifyInstance): () => boolean {
  let result = false;
  // A name such as localhost may have several addresses. This hook runs when all are bound.
  server.addHook("onListen", (done) => {
    const addresses = server.addresses();
    result = addresses.every((bound) => typeof bound !== "string" && isLoopback(bound.address));
    done();
  });
  return () => result;
}

/**
 * Whether a Host header, or an :authority, names this machine itself. A page of another site may have its own name
 * resolve to 127.0.0.1 (DNS rebinding), and the browser then sends that name.
 */
export function isLoopbackHost(host: string): boolean {
  const [, name = ""] = /^(\[::1\]|[^:[\]]+)(?::\d{1,5})?$/.exec(host) ?? [];
  return name === "[::1]" || name.toLowerCase() === "localhost" || isLoopbackIPv4(name);
}
