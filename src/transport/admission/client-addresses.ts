import { clientKey } from "../middleware/client-address.js";

/** The connections of one client address: an IPv4 address, or the first 64 bits of an IPv6 address. */
export interface ClientAddress {
  readonly key: string;
  /** How many are open. */
  connections: number;
  /** Requests under way, of all its connections. */
  underWay: number;
}

/** The addresses that have open connections. */
export class ClientAddresses {
  readonly #byKey = new Map<string, ClientAddress>();

  get(remoteAddress: string | undefined): ClientAddress {
    const key = clientKey(remoteAddress ?? "");
    let address = this.#byKey.get(key);
    if (address === undefined) {
      address = { key, connections: 0, underWay: 0 };
      this.#byKey.set(key, address);
    }
    return address;
  }

  /** Forgets an address without connections. */
  release(address: ClientAddress): void {
    if (address.connections === 0) this.#byKey.delete(address.key);
  }
}
