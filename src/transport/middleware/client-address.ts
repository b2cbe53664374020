import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Leading 16-bit parts of an IPv6 address that identify a subscriber; the subscriber chooses the rest. */
const SUBSCRIBER_PARTS = 4;

/** Some proxies append the port, which differs for each connection. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/;

/** The IPv4 address, or the first 64 bits of the IPv6 address. "unknown" for other text, which only proxies send. */
export function clientKey(address: string): string {
  const [, bracketed, beforePort] = WITH_PORT.exec(address) ?? [];
  const [bare = ""] = (bracketed ?? beforePort ?? address).split("%");
  // ipaddr.js also takes octal and abbreviated IPv4 addresses.
  if (isIP(bare) === 0) return "unknown";
  // It reads ::192.0.2.1 as ::ffff:192.0.2.1.
  const parsed = ipaddr.process(bare.replace(/^::(?=\d+\.)/, "0::"));
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return parsed.parts
    .slice(0, SUBSCRIBER_PARTS)
    .map((part) => part.toString(16))
    .join(":");
}
