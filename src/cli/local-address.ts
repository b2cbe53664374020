/** An address to connect to when a service listens on all addresses. */
export function localAddress(host: string): string {
  return { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
}
