import { isIPv4 } from "node:net";
import type { FastifyInstance } from "fastify";

/** Whether an address that a server listens on is of this machine only. */
const isLoopback = (address: string): boolean => address === "::1" || isLoopbackIPv4(address.replace(/^::ffff:/i, ""));

const isLoopbackIPv4 = (address: string): boolean => isIPv4(address) && address.startsWith("127.");

/** Returns whether all addresses of a server are of this machine only. Call the result when it listens. */
export function boundToLoopback(server: FastifyInstance): () => boolean {
  let result: boolean | undefined;
  return () => {
    if (result !== undefined) return result;
    const addresses = server.addresses();
    if (addresses.length === 0) return false;
    return (result = addresses.every((bound) => typeof bound !== "string" && isLoopback(bound.address)));
  };
}

/**
 * Whether a Host header, or an :authority, names this machine itself. A page of another site may have its own name
 * resolve to 127.0.0.1 (DNS rebinding), and the browser then sends that name.
 */
export function isLoopbackHost(host: string): boolean {
  const [, name = ""] = /^(\[::1\]|[^:[\]]+)(?::\d{1,5})?$/.exec(host) ?? [];
  return name === "[::1]" || name.toLowerCase() === "localhost" || isLoopbackIPv4(name);
}
