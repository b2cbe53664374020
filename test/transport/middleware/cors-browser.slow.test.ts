/** Cross-origin requests of a page in a real browser: what it can send, and what it can read. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { party } from "../../../demo/element.js";
import { Browser, chromium, type Page } from "../../docs-page/chromium.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { transferBody, transferFactory } from "../../fixtures/authenticated-calls.js";
import { at, AUDIENCE, ISSUER, Key, NOW, JwksServer } from "../../fixtures/issuer.js";
import { type Origin, servePage } from "./page/origin.js";
import type { Read } from "./page/page.js";

const skipped = chromium === undefined ? " (skipped: no chromium on the PATH)" : "";
const clients = ["Connect", "Connect binary", "Connect GET", "gRPC-Web"];
const operatorPath = "/api/utilities/v0/operator";
const operator = party("utility-operator");
const nordic = party("nordic-registrar");
const key = await Key.make("first");

describe.skipIf(chromium === undefined)(`a page of another origin${skipped}`, () => {
  const publisher = new JwksServer([key]);
  const away = new JwksServer({ status: 500, body: "" });
  const services: Running[] = [];
  let origin: Origin;
  let browser: Browser;
  let page: Page;
  let open: Running;
  let guarded: Running;
  let unsure: Running;
  let listed: Running;
  let unlisted: Running;
  let closed: Running;

  const serving = async (config: object) => {
    const running = await serveFile(undefined, { now: NOW, config });
    services.push(running);
    return running;
  };

  beforeAll(async () => {
    await publisher.open();
    await away.open();
    origin = await servePage();
    const auth = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
    open = await serving({});
    guarded = await serving(auth);
    unsure = await serving({ ...auth, authJwksUrl: away.url });
    listed = await serving({ corsOrigins: ["https://wallet.example", origin.url] });
    unlisted = await serving({ corsOrigins: ["https://wallet.example"] });
    closed = await serving({ corsOrigins: "none" });
    browser = await Browser.start(chromium ?? "");
    page = await browser.open(origin.url);
    await page.settled();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await origin.close();
    for (const running of services) await running.close();
    await publisher.close();
    await away.close();
  });

  const call = async (name: string, ...parameters: readonly (string | undefined)[]): Promise<Read> => {
    const given = parameters.map((one) => (one === undefined ? "undefined" : JSON.stringify(one)));
    return (await page.evaluate(`globalThis.${name}(${given.join(", ")})`)) as Read;
  };
  const byFetch = (to: Running, path: string, authorization?: string, body?: string) =>
    call("byFetch", to.url, path, authorization, body);
  const byClient = (by: string, to: Running, authorization?: string, registrar?: string) =>
    call("byClient", by, to.url, authorization, registrar);

  test("has another origin", async () => {
    expect(await page.evaluate("location.origin")).toBe(origin.url);
    expect(origin.url).not.toBe(open.url);
  });

  describe("by fetch", () => {
    test("gets responses with and without a token", async () => {
      const token = `Bearer ${await key.sign()}`;
      const body = JSON.stringify(transferBody);
      for (const [to, authorization] of [
        [open, undefined],
        [open, "Bearer of nothing"],
        [guarded, token],
        [listed, undefined],
      ] as const) {
        expect(await byFetch(to, operatorPath, authorization)).toMatchObject({
          status: 200,
          answer: { partyId: operator },
        });
        const offered = await byFetch(to, transferFactory, authorization, body);
        expect(offered).toMatchObject({ status: 200, answer: { transferKind: "offer" } });
      }
    });

    test("reads errors and Retry-After", async () => {
      const expired = `Bearer ${await key.sign({ exp: at(-100) })}`;
      expect(await byFetch(guarded, operatorPath, expired)).toMatchObject({
        status: 401,
        answer: { error: "unauthenticated", error_description: "token expired" },
        challenge: expect.stringContaining('error="invalid_token"'),
      });
      expect(await byFetch(unsure, operatorPath, `Bearer ${await key.sign()}`)).toMatchObject({
        status: 503,
        retryAfter: "5",
      });
      expect(await byFetch(open, "/nothing")).toMatchObject({ status: 404 });
      expect(await byFetch(open, transferFactory, undefined, "{}")).toMatchObject({ status: 400 });
    });

    test("is blocked by the browser if its origin is not allowed", async () => {
      for (const to of [unlisted, closed]) {
        expect(await byFetch(to, operatorPath)).toEqual({ blocked: true });
        expect(await byFetch(to, transferFactory, undefined, "{}")).toEqual({ blocked: true });
        expect(await byFetch(to, operatorPath, "Bearer x")).toEqual({ blocked: true });
      }
    });
  });

  describe.each(clients)("by %s", (by) => {
    test("gets responses with and without a token", async () => {
      const token = `Bearer ${await key.sign()}`;
      for (const [to, authorization] of [
        [open, undefined],
        [open, "Bearer of nothing"],
        [guarded, token],
        [listed, undefined],
      ] as const) {
        expect(await byClient(by, to, authorization)).toEqual({ answer: operator });
        expect(await byClient(by, to, authorization, nordic)).toEqual({ answer: nordic });
      }
    });

    test("reads errors and Retry-After", async () => {
      const expired = `Bearer ${await key.sign({ exp: at(-100) })}`;
      expect(await byClient(by, guarded, expired)).toMatchObject({
        code: "Unauthenticated",
        message: "token expired",
        challenge: expect.stringContaining('error="invalid_token"'),
      });
      expect(await byClient(by, guarded)).toMatchObject({
        code: "Unauthenticated",
        challenge: 'Bearer realm="offledger"',
      });
      expect(await byClient(by, unsure, `Bearer ${await key.sign()}`)).toMatchObject({
        code: "Unavailable",
        retryAfter: "5",
      });
      expect(await byClient(by, open, undefined, "nobody::1220")).toMatchObject({
        code: "NotFound",
        message: expect.stringContaining("nobody::1220"),
      });
    });

    test("is blocked by the browser if its origin is not allowed", async () => {
      for (const to of [unlisted, closed]) {
        expect(await byClient(by, to)).toEqual({ blocked: true });
        expect(await byClient(by, to, "Bearer x", nordic)).toEqual({ blocked: true });
      }
    });
  });
});
