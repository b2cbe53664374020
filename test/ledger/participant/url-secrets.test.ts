/** URLs with a user and a password: both are sent to a gateway, and no failure shows them. */
import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSource } from "../../../src/ingest/create-source.js";
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
    [404, "<html>not here</html>"],
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

test("an issuer that names no token endpoint, or gives no token, shows origin and path alone", async () => {
  expectNoSecret(await failureOf(token(secretly(await answering(200, "{}")))));
  const body = () => JSON.stringify({ token_endpoint: url.href });
  const url: URL = await serving((_request, response) => void response.end(body()));
  expectNoSecret(await failureOf(token(secretly(url))));
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
  const options = {
    participant: { url, parties: [], ca: undefined, credentials: undefined },
    snapshotPath: "",
    database: undefined,
    limits: { unreadyAfter: 1, staleAfter: 1, readWait: 0 },
    kept: {},
  };
  const roles = { mirrors: true, answers: true };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const source = createSource(options, roles, [], Date.now, () => performance.now(), log);
  onTestFinished(() => source.close());
  expect(source.name).toBe("http://participant.example:7575/json");
  const { message } = participantFailure(url, await failureOf(call(secretly(await closedPort()))));
  expect(message).toContain("the participant at http://participant.example:7575/json cannot be read");
  expectNoSecret(message);
});

test.each([undefined, "to.ke.n"])(
  "user and password are sent without their encoding, and yield to a token: %s",
  async (given) => {
    const sent: (string | undefined)[] = [];
    const end = (url: URL) => endpointAt(secretly(url), { token: () => Promise.resolve(given) });
    const url = await serving(async (request, response) => {
      sent.push((await seen(request)).headers.authorization);
      response.end('{"token_endpoint":""}');
    });
    await callParticipant(end(url), "GET", "/v2/state/ledger-end");
    const opened = await streaming((_socket, { headers }) => void sent.push(headers.authorization));
    const opening = MessageStream.open(end(opened), "/v2/updates", {}, false);
    (await within(SOON_MS, "the stream opens", opening)).close();
    await failureOf(token(secretly(url)));
    const expected = given === undefined ? BASIC : `Bearer ${given}`;
    expect(sent).toEqual([expected, expected, BASIC]);
  },
);
