import { isIP, isIPv4 } from "node:net";

/** The part of an address of IPv6 that one subscriber has: the rest is his to choose. */
const SUBSCRIBER_GROUPS = 4;
/** How the groups of an address of IPv4 begin that is written as one of IPv6. */
const MAPPED = "0:0:0:0:0:ffff:";

/** Some proxies put the port behind an address, which is another for each connection. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/;

/**
 * By what a client is told from others: an address of IPv4, or the first 64 bits of one of IPv6. What is no address, as
 * only a proxy can give it, is one client.
 */
export function clientOf(given: string): string {
  const [, inBrackets, beforePort] = WITH_PORT.exec(given) ?? [];
  const address = inBrackets ?? beforePort ?? given;
  switch (isIP(address)) {
    case 4:
      return address;
    case 6:
      return subscriberOf(groupsOf(address));
    default:
      return "unknown";
  }
}

function subscriberOf(groups: readonly string[]): string {
  if (!groups.join(":").startsWith(MAPPED)) return groups.slice(0, SUBSCRIBER_GROUPS).join(":");
  const bytes = groups.slice(-2).flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
  return bytes.join(".");
}

/** The eight groups of an address of IPv6, without zeros in front. */
function groupsOf(address: string): string[] {
  const [plain = ""] = address.split("%");
  const [before = "", after] = plain.split("::");
  const [head, tail] = [partsOf(before), partsOf(after ?? "")];
  const missing = Math.max(0, 8 - head.length - tail.length);
  return [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
}

function partsOf(text: string): string[] {
  return text
    .split(":")
    .filter((part) => part !== "")
    .flatMap((part) => {
      if (!isIPv4(part)) return [Number.parseInt(part, 16).toString(16)];
      const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
      return [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
    });
}
