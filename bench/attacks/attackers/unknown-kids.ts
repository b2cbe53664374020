/** Tokens whose key the issuer does not publish, each with another key id. */
import { randomBytes } from "node:crypto";
import { TRANSFER_FACTORY_PATH } from "../honest/requests.js";
import { AUDIENCE, ISSUER } from "../issuer/claims.js";
import { keepConnected } from "../wire/crowd.js";
import { countResponses, encodeHead, pump } from "../wire/http1.js";
import type { Attack } from "./attack.js";

const CONNECTIONS = 16;
const REQUESTS_PER_WRITE = 20;
const SIGNATURE_BYTES = 256;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const payload = encode({ iss: ISSUER, aud: AUDIENCE, sub: "attacker", exp: Math.floor(Date.now() / 1000) + 86_400 });

export const unknownKids: Attack = (target, tally, signal) => {
  const signature = randomBytes(SIGNATURE_BYTES).toString("base64url");
  const createRequest = () => {
    const head = encode({ alg: "RS256", kid: randomBytes(12).toString("hex") });
    return Buffer.concat([
      encodeHead("POST", TRANSFER_FACTORY_PATH, {
        "Content-Type": "application/json",
        "Content-Length": "2",
        Authorization: `Bearer ${head}.${payload}.${signature}`,
      }),
      Buffer.from("{}"),
    ]);
  };
  return keepConnected(target, tally, signal, {
    count: CONNECTIONS,
    use(socket) {
      countResponses(socket, tally);
      pump(socket, () => {
        tally.requests += REQUESTS_PER_WRITE;
        return Buffer.concat(Array.from({ length: REQUESTS_PER_WRITE }, createRequest));
      });
    },
  });
};
