import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/domain/json.js";
import { clientCredentials, type TokenSource } from "../../../../src/ledger/participant/tokens.js";
import type { LedgerErrorKind } from "../../../../src/ledger/participant/errors.js";
import { gate, type Gate, until, within } from "../../../fixtures/wait.js";
import { closedPort, everythingOf, failureOf, type Seen, seen, serving, SOON_MS } from "../servers.js";
import { temporaryFiles } from "../temporary-files.js";

const SECRET = "s3cr&t=w/ th+ings%";

const { fileOf, pathOf } = temporaryFiles();

interface Answer {
  readonly status?: number;
  readonly body: JsonObject | string;
}

interface Issuer {
  readonly issuer: URL;
  readonly seen: Seen[];
  /** The requests for a token among those. */
  readonly asked: () => Seen[];
  /** The next token responses, in order; then tokens with a lifetime of one hour. */
  readonly answers: Answer[];
  readonly clock: { now: number };
  readonly end: AbortController;
  readonly source: TokenSource;
}

interface IssuerOptions {
  readonly path?: string;
  readonly audience?: string;
  readonly scope?: string;
  readonly configuration?: Answer;
  readonly wait?: Gate;
}

/** An issuer of tokens `token-1`, `token-2`, … and a source that fetches from it. */
async function issuing({ path = "", audience, scope, configuration, wait }: IssuerOptions = {}): Promise<Issuer> {
  const requests: Seen[] = [];
  const answers: Answer[] = [];
  const asked = () => requests.filter((request) => request.path === "/oauth/token");
  const url = await serving(async (request, response) => {
    const came = await seen(request);
    requests.push(came);
    const send = ({ status = 200, body }: Answer) => {
      response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
    };
    if (came.path === "/oauth/token") {
      await wait?.opened;
      send(answers.shift() ?? { body: granted(`token-${asked().length}`, 3_600) });
    } else if (came.path === `${path.replace(/\/$/, "")}/.well-known/openid-configuration`) {
      send(configuration ?? { body: { token_endpoint: new URL("/oauth/token", url).href } });
    } else {
      send({ status: 404, body: "not here" });
    }
  });
  const issuer = new URL(path, url);
  const clock = { now: 1_700_000_000_000 };
  const end = new AbortController();
  const secretFile = await fileOf(`${SECRET}\n`);
  const options = { issuer, clientId: "client & co", secretFile, audience, scope };
  const source = clientCredentials(options, undefined, end.signal, () => clock.now);
  return { issuer, seen: requests, asked, answers, clock, end, source };
}

const granted = (token: string, life?: number): JsonObject => ({
  access_token: token,
  token_type: "Bearer",
  ...(life === undefined ? {} : { expires_in: life }),
});

describe("client credentials", () => {
  test.each(["", "/", "/realms/ledger", "/realms/ledger/"])(
    "are sent to the endpoint that the issuer at %j names",
    async (path) => {
      const { source, seen: requests } = await issuing({ path });
      expect(await source()).toBe("token-1");
      expect(requests.map((request) => [request.method, request.path])).toEqual([
        ["GET", `${path.replace(/\/$/, "")}/.well-known/openid-configuration`],
        ["POST", "/oauth/token"],
      ]);
    },
  );

  test("are sent as a form, every character of them", async () => {
    const { source, asked } = await issuing({ audience: "https://ledger?a=b&c" });
    await source();
    const [request] = asked();
    expect(request?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect([...new URLSearchParams(request?.body)].toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      ["audience", "https://ledger?a=b&c"],
      ["client_id", "client & co"],
      ["client_secret", SECRET],
      ["grant_type", "client_credentials"],
    ]);
  });

  test("have a scope, beside the audience", async () => {
    const { source, asked } = await issuing({ audience: "a", scope: "daml_ledger_api openid" });
    await source();
    const form = new URLSearchParams(asked()[0]?.body);
    expect([form.get("audience"), form.get("scope")]).toEqual(["a", "daml_ledger_api openid"]);
  });

  test("have no audience and no scope if none is configured", async () => {
    const { source, asked } = await issuing();
    await source();
    const form = new URLSearchParams(asked()[0]?.body);
    expect([form.has("audience"), form.has("scope")]).toEqual([false, false]);
  });

  test("are sent once for concurrent callers", async () => {
    const wait = gate();
    const { source, asked } = await issuing({ wait });
    const early = Array.from({ length: 100 }, () => source());
    await until("the issuer is asked", () => asked().length === 1);
    const late = Array.from({ length: 100 }, () => source());
    wait.open();
    const tokens = await within(SOON_MS, "the tokens", Promise.all([...early, ...late]));
    expect(new Set(tokens)).toEqual(new Set(["token-1"]));
    expect(asked()).toHaveLength(1);
  });

  test("that fail do so for all concurrent callers, and are sent again for the next", async () => {
    const { source, asked, answers } = await issuing();
    answers.push({ status: 500, body: "broken" });
    const failures = await Promise.all(Array.from({ length: 10 }, () => failureOf(source())));
    expect(failures.map(({ kind }) => kind)).toEqual(Array.from({ length: 10 }, () => "busy"));
    expect(asked()).toHaveLength(1);
    expect(await source()).toBe("token-2");
  });

  test("whose secret is replaced are sent with the new one", async () => {
    const { issuer, asked, clock } = await issuing();
    const secretFile = await fileOf("old");
    const options = { issuer, clientId: "c", secretFile, audience: undefined, scope: undefined };
    const source = clientCredentials(options, undefined, new AbortController().signal, () => clock.now);
    await source();
    await writeFile(secretFile, "new");
    clock.now += 3_600_000;
    await source();
    expect(asked().map(({ body }) => new URLSearchParams(body).get("client_secret"))).toEqual(["old", "new"]);
  });

  test("whose secret is missing are denied, and not sent", async () => {
    const { issuer, asked } = await issuing();
    const options = { issuer, clientId: "c", secretFile: pathOf("missing"), audience: undefined, scope: undefined };
    const failure = await failureOf(clientCredentials(options, undefined, new AbortController().signal, () => 0)());
    expect(failure).toMatchObject({ kind: "denied" });
    expect(failure.message).toContain(pathOf("missing"));
    expect(asked()).toEqual([]);
  });
});

describe("a token with a lifetime", () => {
  test.each<[string, number | undefined, number, number]>([
    ["of an hour is renewed in its last fifth", 3_600, 2_879, 2_881],
    ["of five minutes is renewed in its last fifth", 300, 239, 241],
    ["of half a minute is renewed ten seconds before its end", 30, 19, 21],
    ["of ten seconds is renewed at half of it", 10, 4, 6],
    ["of one second is renewed at half of it", 1, 0.4, 0.6],
    ["that is missing defaults to one minute", undefined, 47, 49],
  ])("%s", async (_what, life, kept, renewed) => {
    const { source, asked, answers, clock } = await issuing();
    answers.push({ body: granted("first", life) });
    const begun = clock.now;
    expect(await source()).toBe("first");
    clock.now = begun + kept * 1_000;
    expect(await source()).toBe("first");
    expect(asked()).toHaveLength(1);
    clock.now = begun + renewed * 1_000;
    expect(await source()).toBe("token-2");
    expect(asked()).toHaveLength(2);
  });

  test.each<JsonObject>([{ expires_in: 0 }, { expires_in: -5 }, { expires_in: null }])(
    "that is invalid is replaced by a short one: %j",
    async (life) => {
      const { source, answers, clock } = await issuing();
      answers.push({ body: { ...granted("first"), ...life } });
      expect(await source()).toBe("first");
      clock.now += 60_000;
      expect(await source()).toBe("token-2");
    },
  );

  test("expires by the time of its request, not of its response", async () => {
    const wait = gate();
    const { source, asked, answers, clock } = await issuing({ wait });
    answers.push({ body: granted("first", 100) });
    const first = source();
    await until("the issuer is asked", () => asked().length === 1);
    clock.now += 90_000;
    wait.open();
    expect(await first).toBe("first");
    expect(await source()).toBe("token-2");
  });

  test("that was denied is fetched again", async () => {
    const { source, asked } = await issuing();
    expect(await source()).toBe("token-1");
    source.forget?.();
    expect(await source()).toBe("token-2");
    expect(await source()).toBe("token-2");
    expect(asked()).toHaveLength(2);
  });
});

describe("an issuer that fails", () => {
  test.each<[number, LedgerErrorKind]>([
    [400, "denied"],
    [401, "denied"],
    [403, "denied"],
    [404, "denied"],
    [429, "busy"],
    [500, "busy"],
    [503, "busy"],
  ])("at the token endpoint with status %i is %s, and the message has no secret", async (status, kind) => {
    const { source, issuer, answers } = await issuing();
    // Some give back what they were sent.
    answers.push({ status, body: { error: "invalid_client", error_description: SECRET, access_token: "leaked" } });
    const failure = await failureOf(source());
    expect(failure).toMatchObject({ kind });
    expect(failure.message).toContain(issuer.href);
    expect(failure.message).toContain(String(status));
    expect(everythingOf(failure)).not.toContain(SECRET);
    expect(everythingOf(failure)).not.toContain("leaked");
  });

  test.each<[JsonObject, string]>([
    [{ error: "invalid_scope", error_description: "scope: none" }, "status 400, invalid_scope: scope: none"],
    [{ error: "invalid_client" }, "status 400, invalid_client"],
    [{ error: "two\nlines", error_description: "x" }, "status 400"],
    [{ error: 5, error_description: "x" }, "status 400"],
    [{ error: "e".repeat(301) }, "status 400"],
  ])("by %j has the error of RFC 6749 in its message: %s", async (body, described) => {
    const { source, issuer, answers } = await issuing();
    answers.push({ status: 400, body });
    expect((await failureOf(source())).message).toBe(`issuer ${issuer.href} answered ${described}`);
  });

  test.each<[string, string | JsonObject]>([
    ["no JSON", `access_token=leaked&secret=${SECRET}`],
    ["half a JSON text", '{"access_token":"leaked"'],
    ["a text", '"leaked"'],
    ["null", "null"],
    ["no token", { token: "leaked" }],
    ["an empty token", { access_token: "", other: "leaked" }],
    ["a token that is no text", { access_token: ["leaked"] }],
  ])("by %s as a token is denied, and the message has no token", async (_what, body) => {
    const { source, answers } = await issuing();
    answers.push({ body });
    const failure = await failureOf(source());
    expect(failure).toMatchObject({ kind: "denied" });
    expect(everythingOf(failure)).not.toContain("leaked");
    expect(everythingOf(failure)).not.toContain(SECRET);
  });

  test.each<[string, Answer, LedgerErrorKind]>([
    ["is not there", { status: 404, body: "no" }, "denied"],
    ["is too much asked", { status: 429, body: "" }, "busy"],
    ["is broken", { status: 502, body: "" }, "busy"],
    ["is no JSON", { body: "<html>" }, "denied"],
    ["names no endpoint", { body: {} }, "denied"],
    ["names an endpoint that is no URL", { body: { token_endpoint: "/token" } }, "denied"],
    ["names an endpoint that is no text", { body: { token_endpoint: 5 } }, "denied"],
    [
      "names an endpoint that is not spoken to by HTTP",
      { body: { token_endpoint: "ftp://127.0.0.1/token" } },
      "denied",
    ],
  ])("because its configuration %s is reported, and no secret is sent", async (_what, configuration, kind) => {
    const { source, asked } = await issuing({ configuration });
    const failure = await failureOf(source());
    expect(failure).toMatchObject({ kind });
    expect(everythingOf(failure)).not.toContain(SECRET);
    expect(asked()).toEqual([]);
  });

  test("at a closed port is lost", async () => {
    const options = {
      issuer: await closedPort(),
      clientId: "c",
      secretFile: await fileOf(SECRET),
      audience: undefined,
      scope: undefined,
    };
    const failure = await failureOf(clientCredentials(options, undefined, new AbortController().signal, () => 0)());
    expect(failure).toMatchObject({ kind: "lost" });
    expect(everythingOf(failure)).not.toContain(SECRET);
  });

  test("by hanging ends at once on an abort", async () => {
    const { source, asked, end } = await issuing({ wait: gate() });
    const failing = failureOf(source());
    await until("the issuer is asked", () => asked().length === 1);
    end.abort();
    expect(await within(1_000, "the end of the fetch", failing)).toMatchObject({ kind: "lost" });
  });
});
