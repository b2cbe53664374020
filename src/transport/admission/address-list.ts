import { BlockList, isIPv6 } from "node:net";

/** Addresses and networks, as `192.0.2.1` or `2001:db8::/32`. */
export class AddressList {
  readonly #list = new BlockList();

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [address = "", prefix] = entry.split("/");
      const family = familyOf(address);
      if (prefix === undefined) this.#list.addAddress(address, family);
      else this.#list.addSubnet(address, Number(prefix), family);
    }
  }

  has(address: string): boolean {
    return this.#list.check(address, familyOf(address));
  }
}

const familyOf = (address: string): "ipv6" | "ipv4" => (isIPv6(address) ? "ipv6" : "ipv4");
