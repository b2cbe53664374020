/** An issuer of tokens on 127.0.0.1: its keys at a URL, and a token for the service. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

const ISSUER = "https://issuer.example/";
const AUDIENCE = "offledger";

export interface Issuer {
  /** The settings of a service that requires its tokens. */
  readonly settings: Readonly<Record<string, string>>;
  readonly token: string;
  close(): Promise<void>;
}

export async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const header = { alg: "ES256", kid: "clients" };
  const body = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), ...header }] });
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const token = await new SignJWT({ sub: "wallet" })
    .setProtectedHeader(header)
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setExpirationTime("2h")
    .sign(privateKey);
  return {
    settings: {
      OFFLEDGER_AUTH_JWKS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
      OFFLEDGER_AUTH_ISSUER: ISSUER,
      OFFLEDGER_AUTH_AUDIENCE: AUDIENCE,
    },
    token,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
