import type { FastifyInstance } from "fastify";
import ipaddr from "ipaddr.js";

/** Whether an IPv4 or IPv6 address is reached from this machine only; also for IPv4 in the form of IPv6. */
const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";

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
  const [, inBrackets, name = ""] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(host) ?? [];
  if (inBrackets !== undefined) return isLoopback(inBrackets);
  // ipaddr.js also takes octal and abbreviated IPv4 addresses.
  return name.toLowerCase() === "localhost" || (ipaddr.IPv4.isValidFourPartDecimal(name) && isLoopback(name));
}
