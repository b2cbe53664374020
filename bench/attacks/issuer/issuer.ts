/** An issuer of tokens: publishes one key, and counts how often it is fetched. */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { AUDIENCE, ISSUER } from "./claims.js";

const ALGORITHM = "ES256";
const KEY_ID = "bench";

export async function startIssuer() {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM);
  const jwk = { ...(await exportJWK(publicKey)), kid: KEY_ID, alg: ALGORITHM, use: "sig" };
  const document = JSON.stringify({ keys: [jwk] });
  let fetches = 0;
  const server = http.createServer((_request, response) => {
    fetches++;
    response.writeHead(200, { "content-type": "application/json" }).end(document);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const token = await new SignJWT({ sub: "honest" })
    .setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setExpirationTime("2h")
    .setIssuedAt()
    .sign(privateKey);
  return {
    token,
    settings: {
      OFFLEDGER_AUTH_JWKS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
      OFFLEDGER_AUTH_ISSUER: ISSUER,
      OFFLEDGER_AUTH_AUDIENCE: AUDIENCE,
    },
    fetches: () => fetches,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
