import type { Socket } from "node:net";

/** The member of Node.js that counts what `node:http2` writes; the public ones count only what JavaScript writes. */
interface Handle {
  readonly writeQueueSize?: number;
}

/** Whether the kernel has not accepted all bytes of an open HTTP/2 connection, for instance because its client does not read. */
export function hasUnsentBytes(socket: Socket): boolean {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Handle | null };
  return handle?.writeQueueSize !== 0;
}
