/** Tokens, over HTTP and as subprotocols of a WebSocket. */
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../fixtures/wait.js";
import { ask, creation, eventFormat, Listener, operator, updatesRequest } from "./test-client.js";
import { Participant } from "./participant.js";
import { Tokens } from "./tokens.js";

let tokens: Tokens;
let participant: Participant;
beforeEach(async () => {
  tokens = new Tokens();
  participant = await Participant.start({ tokens });
  participant.ledger.transact([{ create: creation("a") }]);
});
afterEach(() => participant.close());

const end = (token?: string) => ask(`${participant.url}/v2/state/ledger-end`, undefined, token);
const follow = (...protocols: readonly string[]) =>
  new Listener(participant.url, "/v2/updates", updatesRequest(0), protocols);
const carrying = (token: string) => follow(`jwt.token.${token}`, "daml.ws.auth");

function carryingTwo(inHeader: string, inProtocol: string): Listener {
  const options = { headers: { authorization: `Bearer ${inHeader}` } };
  const protocols = [`jwt.token.${inProtocol}`, "daml.ws.auth"];
  return new Listener(participant.url, "/v2/updates", updatesRequest(0), protocols, options);
}

const redacted = { code: "NA", cause: "A security-sensitive error has been received", errorCategory: -1 };

describe("over HTTP", () => {
  test("a valid token is accepted", async () => {
    expect((await end(tokens.issue())).status).toBe(200);
  });

  test.each<[string, () => string | undefined]>([
    ["none", () => undefined],
    ["one that was never issued", () => "a.b.c"],
    ["one that has ended", () => tokens.issue({ expiresInMs: -1 })],
    [
      "one that is revoked",
      () => {
        const token = tokens.issue();
        tokens.revoke(token);
        return token;
      },
    ],
  ])("%s is rejected with an API error", async (_, token) => {
    expect(await end(token())).toMatchObject({
      status: 401,
      type: "application/json",
      body: { ...redacted, grpcCodeValue: 16, retryInfo: null, definiteAnswer: null },
    });
  });

  test("a token may be restricted to parties", async () => {
    const token = tokens.issue({ parties: [operator] });
    const events = (party: string) => {
      const body = { contractId: "a", eventFormat: eventFormat([party]) };
      return ask(`${participant.url}/v2/events/events-by-contract-id`, body, token);
    };
    expect((await events(operator)).status).toBe(200);
    expect(await events("alice::1220")).toMatchObject({ status: 403, body: { ...redacted, grpcCodeValue: 7 } });
  });

  test("an issued token has its expiry", () => {
    const [, claims = ""] = tokens.issue({ expiresInMs: 60_000 }).split(".");
    const { exp } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { exp: number };
    expect(Math.abs(exp - Date.now() / 1000 - 60)).toBeLessThan(2);
  });
});

describe("as a stream", () => {
  test("a valid token is accepted, and daml.ws.auth is selected", async () => {
    const listener = carrying(tokens.issue());
    await listener.receive(1);
    expect(listener.protocol).toBe("daml.ws.auth");
    listener.end();
  });

  test("a client that offers its token alone fails", async () => {
    const listener = follow(`jwt.token.${tokens.issue()}`);
    expect((await listener.ended).error).toBe("Server sent an invalid subprotocol");
  });

  test.each<[string, () => Listener]>([
    ["none", () => follow("daml.ws.auth")],
    ["one in second place", () => follow("daml.ws.auth", `jwt.token.${tokens.issue()}`)],
    ["one that was never issued", () => carrying("a.b.c")],
    ["one that has ended", () => carrying(tokens.issue({ expiresInMs: -1 }))],
  ])("with %s for a token it opens, says so, and closes", async (_, open) => {
    const listener = open();
    expect(await listener.ended).toEqual({ code: 1000, error: undefined });
    expect(listener.messages).toMatchObject([{ ...redacted, grpcCodeValue: 16 }]);
    expect(listener.protocol).toBe("daml.ws.auth");
  });

  test("for a user that is not known it is not opened", async () => {
    expect((await carrying(tokens.issue({ hasUser: false })).ended).error).toBe("Unexpected server response: 403");
    const answer = await end(tokens.issue({ hasUser: false }));
    expect(answer).toMatchObject({
      status: 403,
      body: { ...redacted, context: { ledger_api_error: "invalid token" } },
    });
  });

  test("the header counts where the subprotocols have a token too", async () => {
    const [good, other] = [tokens.issue(), tokens.issue({ parties: [] })];
    const accepted = carryingTwo(good, other);
    await accepted.receive(1);
    expect(accepted.messages[0]).toHaveProperty("update");
    accepted.end();
    const refused = carryingTwo(other, good);
    await refused.ended;
    expect(refused.messages).toMatchObject([{ ...redacted, grpcCodeValue: 7 }]);
  });

  test("a party without rights is reported by a message", async () => {
    const listener = carrying(tokens.issue({ parties: ["alice::1220"] }));
    await listener.ended;
    expect(listener.messages).toMatchObject([{ ...redacted, grpcCodeValue: 7 }]);
  });

  test("it ends with an error when its token is revoked, and no other does", async () => {
    const [revoked, kept] = [tokens.issue(), tokens.issue()];
    const cut = carrying(revoked);
    const other = carrying(kept);
    await Promise.all([cut.receive(1), other.receive(1)]);
    tokens.revoke(revoked);
    expect((await cut.ended).code).toBe(1000);
    expect(cut.messages[1]).toMatchObject({ code: "STALE_STREAM_AUTHORIZATION", grpcCodeValue: 10 });
    participant.ledger.checkpoint();
    await other.receive(2);
    other.end();
  });

  test("it ends with an error when it has something to send after its token has expired", async () => {
    const listener = carrying(tokens.issue({ expiresInMs: 300 }));
    await listener.receive(1);
    await pause(400);
    expect(participant.streams).toBe(1);
    participant.ledger.checkpoint();
    expect((await listener.ended).code).toBe(1000);
    expect(listener.messages[1]).toMatchObject({ code: "ACCESS_TOKEN_EXPIRED", grpcCodeValue: 10 });
    await until("it is gone", () => participant.streams === 0);
  });
});
