/** Whether a participant is on this machine or a private network: elsewhere its users are not for everybody. */
import { lookup } from "node:dns/promises";
import { BlockList } from "node:net";
import { SetUpError } from "./error.js";

const locals = new BlockList();
for (const [network, prefix] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
] as const)
  locals.addSubnet(network, prefix);
for (const [network, prefix] of [
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  locals.addSubnet(network, prefix, "ipv6");

/** Throws SetUpError if an address of the host is public, and the system's error if it has none. */
export async function requirePrivate(name: string, url: string): Promise<void> {
  const { hostname } = new URL(url);
  const addresses = await lookup(hostname.replace(/^\[|\]$/g, ""), { all: true });
  const open = addresses.find(({ address, family }) => !locals.check(address, family === 6 ? "ipv6" : "ipv4"));
  if (open === undefined) return;
  throw new SetUpError(
    `${name} is at ${open.address}, which is not a private address: this is for development, and acts as the users of the ` +
      "participant. Give --allow-public if you mean it",
  );
}
