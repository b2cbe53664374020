/** Tokens for the participant: from a file, or by client credentials. */
import { rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/util/json.js";
import { clientCredentials, type ClientCredentials, tokenFile } from "../../../src/ledger/participant/tokens.js";
import type { LedgerErrorKind } from "../../../src/ledger/participant/errors.js";
import { gate, type Gate, until, within } from "../../fixtures/wait.js";
import { closedPort, everythingOf, failureOf, type Seen, seen, serving, SOON_MS, temporaryFile } from "./servers.js";

describe("a token file", () => {
  test.each(["token", "token\n", "\r\n token \t\r\n"])("gives its content without white space: %j", async (content) => {
    expect(await tokenFile(await temporaryFile(content))()).toBe("token");
  });

  test("that is empty, missing or a folder is denied, with its path and the reason", async () => {
    const [empty, missing] = [await temporaryFile(" \n\t "), await temporaryFile()];
    for (const [path, problem] of [
      [empty, "is empty"],
      [missing, "cannot be read (ENOENT)"],
      [tmpdir(), "cannot be read (EISDIR)"],
    ] as const) {
      const message = `the token file ${path} ${problem}`;
      expect(await failureOf(tokenFile(path)())).toMatchObject({ kind: "denied", message });
    }
  });

  test("that is replaced has its present content, also after a failure", async () => {
    const path = await temporaryFile("first");
    const source = tokenFile(path);
    expect(await source()).toBe("first");
    await rename(await temporaryFile("second"), path);
    expect(await source()).toBe("second");
    await rm(path);
    await failureOf(source());
    await writeFile(path, "third");
    expect(await source()).toBe("third");
  });
});

const SECRET = "s3cr&t=w/ th+ings%";

interface Answer {
  readonly status?: number;
  readonly body: JsonObject | string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface IssuerOptions extends Partial<ClientCredentials> {
  readonly path?: string;
  readonly configuration?: Answer;
  readonly wait?: Gate;
}

/**
 * An issuer of tokens `token-1`, `token-2`, … and a source that fetches from it. `answers` are the next token responses,
 * in order; then tokens with a lifetime of one hour.
 */
async function issuing({ path = "", configuration, wait, ...more }: IssuerOptions = {}) {
  const requests: Seen[] = [];
  const answers: Answer[] = [];
  const asked = () => requests.filter((request) => request.path === "/oauth/token");
  const url = await serving(async (request, response) => {
    const came = await seen(request);
    requests.push(came);
    const send = ({ status = 200, body, headers = {} }: Answer) => {
      response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
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
  const clock = { now: 1_700_000_000_000 };
  const end = new AbortController();
  const secretFile = more.secretFile ?? (await temporaryFile(`${SECRET}\n`));
  const none = { audience: undefined, scope: undefined };
  const options = { issuer: new URL(path, url), clientId: "client & co", ...none, ...more, secretFile };
  const source = clientCredentials(options, undefined, end.signal, () => clock.now);
  return { issuer: options.issuer, requests, asked, answers, clock, end, source };
}

const granted = (token: string, life?: number | null | string): JsonObject => ({
  access_token: token,
  token_type: "Bearer",
  ...(life === undefined ? {} : { expires_in: life }),
});

describe("client credentials", () => {
  test.each(["", "/", "/realms/ledger", "/realms/ledger/"])(
    "are sent to the endpoint of the issuer at %j",
    async (path) => {
      const { source, requests } = await issuing({ path });
      expect(await source()).toBe("token-1");
      expect(requests.map((request) => [request.method, request.path])).toEqual([
        ["GET", `${path.replace(/\/$/, "")}/.well-known/openid-configuration`],
        ["POST", "/oauth/token"],
      ]);
    },
  );

  test.each([{}, { audience: "https://ledger?a=b&c" }, { audience: "a", scope: "daml_ledger_api openid" }])(
    "are sent as a form, every character of them, with what is configured: %j",
    async (more) => {
      const { source, asked } = await issuing(more);
      await source();
      const [request] = asked();
      expect(request?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
      expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
        ...more,
        client_id: "client & co",
        client_secret: SECRET,
        grant_type: "client_credentials",
      });
    },
  );

  test("are sent once for concurrent callers; if they fail, for all, and again for the next", async () => {
    const wait = gate();
    const { source, asked, answers } = await issuing({ wait });
    answers.push({ status: 500, body: "broken" });
    const early = Array.from({ length: 10 }, () => failureOf(source()));
    await until("the issuer is asked", () => asked().length === 1);
    const late = Array.from({ length: 10 }, () => failureOf(source()));
    wait.open();
    const failures = await within(SOON_MS, "the failures", Promise.all([...early, ...late]));
    expect(new Set(failures.map(({ kind }) => kind))).toEqual(new Set(["busy"]));
    expect(asked()).toHaveLength(1);
    expect(await Promise.all([source(), source()])).toEqual(["token-2", "token-2"]);
  });

  test("whose secret is replaced are sent with the new one, and not without one", async () => {
    const secretFile = await temporaryFile("old");
    const { source, asked, clock } = await issuing({ secretFile });
    await source();
    await writeFile(secretFile, "new");
    clock.now += 3_600_000;
    await source();
    expect(asked().map(({ body }) => new URLSearchParams(body).get("client_secret"))).toEqual(["old", "new"]);
    await rm(secretFile);
    clock.now += 3_600_000;
    const failure = await failureOf(source());
    expect(failure.kind).toBe("denied");
    expect(failure.message).toContain(secretFile);
    expect(asked()).toHaveLength(2);
  });
});

describe("a token", () => {
  test.each<[string, number | null | string | undefined, number, number]>([
    ["of an hour is renewed in its last fifth", 3_600, 2_879, 2_881],
    ["of five minutes, as a text, is renewed in its last fifth", "300", 239, 241],
    ["of half a minute is renewed ten seconds before its end", 30, 19, 21],
    ["of ten seconds is renewed at half of it", 10, 4, 6],
    ["of one second is renewed at half of it", 1, 0.4, 0.6],
    ["without a lifetime lives for a minute", undefined, 47, 49],
    ["with a lifetime of 0 lives for a minute", 0, 47, 49],
    ["with a lifetime below 0 lives for a minute", -5, 47, 49],
    ["with a lifetime of null lives for a minute", null, 47, 49],
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
  });

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

  test("that was denied is fetched again, once", async () => {
    const { source, asked } = await issuing();
    expect(await source()).toBe("token-1");
    source.forget?.("token-1");
    expect(await source()).toBe("token-2");
    expect(await source()).toBe("token-2");
    expect(asked()).toHaveLength(2);
  });

  test("that was denied after it was renewed does not take the next one with it", async () => {
    const { source, asked, answers, clock } = await issuing();
    answers.push({ body: granted("first", 300) });
    expect(await source()).toBe("first");
    clock.now += 250_000;
    expect(await source()).toBe("token-2");
    // As by the end of a stream that was opened with it.
    source.forget?.("first");
    expect(await source()).toBe("token-2");
    expect(asked()).toHaveLength(2);
  });
});

describe("an issuer that fails", () => {
  test.each<[number, LedgerErrorKind]>([
    [400, "denied"],
    [429, "busy"],
    [500, "busy"],
  ])("at the token endpoint with status %i is %s, and the message has no secret", async (status, kind) => {
    const { source, issuer, answers } = await issuing();
    // Some give back what they were sent.
    answers.push({ status, body: { error: "invalid_client", error_description: SECRET, access_token: "leaked" } });
    const failure = await failureOf(source());
    expect(failure).toMatchObject({ kind, message: `issuer ${issuer.href} answered status ${status}` });
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
    ["a text", '"leaked"'],
    ["no token", { token: "leaked" }],
    ["an empty token", { access_token: "", other: "leaked" }],
    ["a token that is no text", { access_token: ["leaked"] }],
  ])("by %s as a token is denied, and the message has no token", async (_what, body) => {
    const { source, issuer, answers } = await issuing();
    answers.push({ body });
    const failure = await failureOf(source());
    expect(failure.kind).toBe("denied");
    expect(failure.message).toContain(`the response of issuer ${issuer.href.replace(/\/$/, "")}`);
    expect(everythingOf(failure)).not.toMatch(/leaked|s3cr/);
  });

  test.each<[string, Answer, LedgerErrorKind]>([
    ["is not there", { status: 404, body: "no" }, "denied"],
    ["is no JSON", { body: "<html>" }, "denied"],
    ["names no endpoint", { body: {} }, "denied"],
    ["names an endpoint that is no URL", { body: { token_endpoint: "/token" } }, "denied"],
    ["names an endpoint that is no text", { body: { token_endpoint: 5 } }, "denied"],
    ["names an endpoint of another protocol", { body: { token_endpoint: "ftp://127.0.0.1/token" } }, "denied"],
  ])("because its configuration %s is reported, and no secret is sent", async (_what, configuration, kind) => {
    const { source, asked } = await issuing({ configuration });
    const failure = await failureOf(source());
    expect(failure).toMatchObject({ kind });
    expect(everythingOf(failure)).not.toContain(SECRET);
    expect(asked()).toEqual([]);
  });

  test.each<[string, Answer]>([
    ["token endpoint", { status: 503, body: "", headers: { "retry-after": "30" } }],
    ["discovery", { status: 429, body: "", headers: { "retry-after": "30" } }],
  ])("is left alone as long as its %s asks for", async (of, answer) => {
    const { source, requests, answers } = await issuing(of === "discovery" ? { configuration: answer } : {});
    if (of !== "discovery") answers.push(answer);
    expect(await failureOf(source())).toMatchObject({ kind: "busy", details: { retryMs: 30_000 } });
    const asked = requests.length;
    const again = await failureOf(source());
    expect(again).toMatchObject({ kind: "busy", message: expect.stringContaining(String(answer.status)) as string });
    expect(again.details.retryMs).toBeGreaterThan(0);
    expect(requests).toHaveLength(asked);
  });

  const redirect = { status: 302, body: "", headers: { location: `https://sso.example/login?x=${SECRET}` } };
  const blocked = { status: 403, body: "<html><title>Blocked</title>" };
  const signIn = { body: "<!doctype html><title>Sign in</title>" };
  const nested = { body: "[".repeat(4e6) + "]".repeat(4e6) };

  test.each<[string, Answer, string]>([
    ["a redirect", redirect, "status 302, a redirect to https://sso.example/login"],
    ["a page of HTML", blocked, 'status 403, a page of HTML, "Blocked"'],
    ["a page that repeats the secret", { status: 403, body: `<html><title>${SECRET}</title>` }, "answered status 403"],
    ["a page of HTML as success", signIn, 'is a page of HTML, "Sign in", not JSON (status 200)'],
    ["lists in each other", nested, "is nested deeper than 65536 objects and lists"],
  ])("by %s instead of a token says so", async (_what, answer, said) => {
    const { source, answers } = await issuing();
    answers.push(answer);
    const failure = await failureOf(source());
    expect(failure.message).toContain(said);
    expect(everythingOf(failure)).not.toContain(SECRET);
  });

  test("at a closed port is lost, and by hanging ends at once on an abort", async () => {
    const away = await issuing({ issuer: await closedPort() });
    const failure = await failureOf(away.source());
    expect(failure.kind).toBe("lost");
    expect(everythingOf(failure)).not.toContain(SECRET);
    const { source, asked, end } = await issuing({ wait: gate() });
    const failing = failureOf(source());
    await until("the issuer is asked", () => asked().length === 1);
    end.abort();
    expect(await within(SOON_MS, "the end of the fetch", failing)).toMatchObject({ kind: "lost" });
  });
});
