import { isIPv6 } from "node:net";

/** The part of an address of IPv6 that one subscriber has: the rest is his to choose. */
const SUBSCRIBER_GROUPS = 4;

/** By what a client is told from others: an address of IPv4, or the first 64 bits of one of IPv6. */
export function clientOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  return expanded(address).slice(0, SUBSCRIBER_GROUPS).join(":");
}

/** The eight groups of an address, without zeros in front. */
function expanded(address: string): string[] {
  const [plain = ""] = address.split("%");
  const [before = "", after] = plain.split("::");
  const [head, tail] = [groupsOf(before), groupsOf(after ?? "")];
  const missing = after === undefined ? 0 : Math.max(0, 8 - head.length - tail.length);
  return [...head, ...Array.from({ length: missing }, () => "0"), ...tail].map((group) =>
    Number.parseInt(group, 16).toString(16),
  );
}

const groupsOf = (part: string): string[] => part.split(":").filter((group) => group !== "");
