/** URLs with a user and a password: both are sent to a gateway, and no failure shows them. */
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { connectParticipant } from "../../../src/ingest/create-source.js";
import { Decoder } from "../../../src/ledger/decode.js";
import { callParticipant } from "../../../src/ledger/participant/http.js";
import { MessageStream } from "../../../src/ledger/participant/message-stream.js";
import { clientCredentials } from "../../../src/ledger/participant/tokens.js";
import { participantFailure } from "../../../src/cli/check.js";
import { within } from "../../fixtures/wait.js";
import {
  closedPort,
  endpointAt,
  everythingOf,
  failureOf,
  listening,
  seen,
  serving,
  SOON_MS,
  streaming,
  temporaryFile,
} from "./servers.js";

const SECRETS = ["opsUser", "s3cret", "p%40ss", "p@ss", "qu3ry", "fragm3nt"];
const BASIC = `Basic ${Buffer.from("opsUser:s3cret-p@ss").toString("base64")}`;

/** The URL with all that it may hold besides origin and path. */
const secretly = ({ host }: URL, path = "/json"): URL =>
  new URL(`http://opsUser:s3cret-p%40ss@${host}${path}?token=qu3ry#fragm3nt`);

const expectNoSecret = (shown: unknown): void => {
  const text = typeof shown === "string" ? shown : everythingOf(shown);
  expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
};

const call = (url: URL) => callParticipant(endpointAt(url), "GET", "/v2/state/ledger-end");
const stream = (url: URL) => MessageStream.open(endpointAt(url), "/v2/updates", {}, false);
async function token(issuer: URL): Promise<string | undefined> {
  const client = { issuer, clientId: "c", secretFile: await temporaryFile("x"), audience: undefined, scope: undefined };
  return clientCredentials(client, undefined, new AbortController().signal, Date.now)();
}

/** Answers requests and upgrades. */
function answering(status: number, body: string): Promise<URL> {
  const text = `HTTP/1.1 ${status} No\r\nLocation: /login\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
  const server = createServer((request) => void request.socket.end(text));
  server.on("upgrade", (_request, socket) => void socket.end(text));
  return listening(server);
}

describe.each([
  ["a call", call],
  ["a stream", stream],
  ["the issuer", token],
])("a failure of %s shows origin and path alone", (_what, fails) => {
  test.each([
    [302, ""],
    [401, "no"],
    [404, "<html>not here</html>"],
    [405, "{}"],
    [500, "oops"],
    [200, "no JSON"],
  ])("with status %d and %j", async (status, body) => {
    expectNoSecret(await failureOf(fails(secretly(await answering(status, body)))));
  });

  test("without a server, and with one that does not speak HTTP", async () => {
    expectNoSecret(await failureOf(fails(secretly(await closedPort()))));
    const deaf = await serving((request) => void request.socket.end(Buffer.from("000012040000000000", "hex")));
    expectNoSecret(await failureOf(fails(secretly(deaf))));
  });
});

test("an issuer that names no token endpoint, or gives no token", async () => {
  for (const body of ["{}", '{"token_endpoint":"ftp://opsUser:s3cret-p%40ss@a.example"}'])
    expectNoSecret(await failureOf(token(secretly(await answering(200, body)))));
});

test("what is called by the wrong path is named with it", async () => {
  const url = await answering(404, "not here");
  expect((await failureOf(call(secretly(url)))).message).toContain(
    `there is no JSON Ledger API at ${url.origin}/json/v2/state/ledger-end (status 404)`,
  );
  expect((await failureOf(stream(secretly(url)))).message).toContain(
    `there is no JSON Ledger API at ws://${url.host}/json/v2/updates (status 404)`,
  );
  expect((await failureOf(token(secretly(url, "/realm")))).message).toBe(
    `issuer ${url.origin}/realm answered status 404`,
  );
});

test("the source, and a failed check, are named by origin and path", async () => {
  const url = secretly(new URL("http://participant.example:7575"));
  const limits = { unreadyAfter: 1, staleAfter: 1, readWait: 0 };
  const participant = { url, parties: [], ca: undefined, credentials: undefined };
  const end = new AbortController();
  const decoder = new Decoder([]);
  const clock = () => performance.now();
  const { ingestor } = connectParticipant(participant, {
    limits,
    kept: {},
    templates: [],
    decoder,
    now: Date.now,
    clock,
    signal: end.signal,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  end.abort();
  expect(ingestor.name).toBe("http://participant.example:7575/json");
  expectNoSecret(ingestor.origin);
  const failure = await failureOf(call(secretly(await closedPort())));
  const { message } = participantFailure(url, failure);
  expect(message).toContain("the participant at http://participant.example:7575/json cannot be read");
  expectNoSecret(message);
});

describe("user and password", () => {
  test("are sent with calls, streams and to the issuer, as they are without their encoding", async () => {
    const sent: (string | undefined)[] = [];
    const url = await serving(async (request, response) => {
      sent.push((await seen(request)).headers.authorization);
      response.end('{"token_endpoint":""}');
    });
    await call(secretly(url));
    await failureOf(token(secretly(url)));
    const opened = await streaming((_socket, { headers }) => void sent.push(headers.authorization));
    (await within(SOON_MS, "the stream opens", stream(secretly(opened)))).close();
    expect(sent).toEqual([BASIC, BASIC, BASIC]);
  });

  test("yield to a token", async () => {
    const sent: (string | undefined)[] = [];
    const withToken = { token: () => Promise.resolve("to.ke.n") };
    const url = await serving(async (request, response) => {
      sent.push((await seen(request)).headers.authorization);
      response.end("{}");
    });
    await callParticipant(endpointAt(secretly(url), withToken), "GET", "/v2/state/ledger-end");
    const opened = await streaming((_socket, { headers }) => void sent.push(headers.authorization));
    const end = endpointAt(secretly(opened), withToken);
    (await within(SOON_MS, "the stream opens", MessageStream.open(end, "/v2/updates", {}, false))).close();
    expect(sent).toEqual(["Bearer to.ke.n", "Bearer to.ke.n"]);
  });
});
