/** The clients of every protocol, by the label that metrics and log give it. */
import type { Code } from "@connectrpc/connect";
import { type Call, clients } from "../fixtures/protocols.js";

/** Returns the error code; undefined for success. */
export type Send = (url: string, call: Call, headers?: Readonly<Record<string, string>>) => Promise<Code | undefined>;

interface ProtocolClient {
  /** The label of the metrics. */
  readonly protocol: string;
  readonly send: Send;
}

export const protocolClients: Readonly<Record<string, ProtocolClient>> = Object.fromEntries(
  Object.entries(clients).map(([name, client]): [string, ProtocolClient] => {
    const send: Send = async (url, call, headers = {}) => {
      const { code } = await client(url, call, { headers });
      return code === 0 ? undefined : code;
    };
    return [name, { protocol: name.startsWith("Connect") ? "connect" : name.toLowerCase(), send }];
  }),
);

/** The full name of the rpc. */
export const nameOf = ({ method }: Call): string => `${method.parent.typeName}/${method.name}`;
