/** The page at /docs in a browser. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { elements } from "../../demo/registry.js";
import { party } from "../../demo/element.js";
import type { JsonObject } from "../../src/domain/json.js";
import { AUDIENCE, ISSUER, JwksServer, Key, NOW } from "../fixtures/issuer.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { Browser, chromium, type Page } from "./chromium.js";

const document = JSON.parse(readFileSync("gen/openapi.json", "utf8")) as {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
};
const nordic = party("nordic-registrar");

const skipped = chromium === undefined ? " (skipped: no chromium on the PATH)" : "";

describe.skipIf(chromium === undefined)(`the page at /docs${skipped}`, () => {
  let running: Running;
  let browser: Browser;
  beforeAll(async () => {
    running = await serveFile(undefined);
    browser = await Browser.start(chromium ?? "");
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await running.close();
  });

  async function open(path: string): Promise<Page> {
    const page = await browser.open(running.url + path);
    await page.shows(".opblock-tag");
    await page.settled();
    return page;
  }

  /** Expects no problems and no requests to other servers. */
  async function expectNoProblem(page: Page): Promise<void> {
    await page.settled();
    expect(page.problems).toEqual([]);
    const requested = page.requested.filter((url) => !/^(?:data|blob):/.test(url));
    expect(requested.filter((url) => new URL(url).origin !== running.url)).toEqual([]);
    expect(requested.filter((url) => url.endsWith("/docs/json"))).toHaveLength(1);
  }

  test.each(["/docs", "/docs/", "//docs", "/docs/static/index.html"])(
    "loads at %s, without requests to other servers",
    async (path) => {
      const page = await open(path);
      expect(await page.evaluate("document.title")).toBe("offledger");
      expect(await page.texts(".info .title")).toEqual([expect.stringContaining("offledger")]);
      const icons = `[...document.querySelectorAll("link[rel=icon]")].map(({ href }) => new URL(href).pathname)`;
      expect(await page.evaluate(icons)).toEqual(["/docs/static/theme/icon.svg"]);
      await expectNoProblem(page);
    },
  );

  test("has styles and images", async () => {
    const page = await open("/docs");
    expect(await page.evaluate("[...document.styleSheets].every(({ cssRules }) => cssRules.length > 0)")).toBe(true);
    expect(await page.evaluate("getComputedStyle(document.querySelector('.topbar')).backgroundColor")).not.toBe(
      "rgba(0, 0, 0, 0)",
    );
    expect(await page.evaluate("[...document.images].every(({ naturalWidth }) => naturalWidth > 0)")).toBe(true);
    const logo = await page.evaluate("atob(document.querySelector('.topbar img').src.split(',')[1])");
    expect(logo).toContain("<title>offledger</title>");
    expect(await page.evaluate("document.querySelector('.topbar').innerText")).not.toMatch(/swagger/i);
  });

  test("lists every operation of the document", async () => {
    const page = await open("/docs");
    for (const { name } of document.tags) await page.click(`.opblock-tag[data-tag="${name}"]`);
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const listed = `[...document.querySelectorAll(".opblock")].map((block) =>
      block.querySelector(".opblock-summary-method").textContent + " " +
      block.querySelector(".opblock-summary-path").dataset.path)`;
    await page.shows(`.opblock-summary-path[data-path="/readyz"]`);
    expect(((await page.evaluate(listed)) as string[]).toSorted()).toEqual(operations.toSorted());
    expect(operations.length).toBeGreaterThan(40);
    await expectNoProblem(page);
  });

  test("sends a GET without parameters", async () => {
    const page = await open("/docs");
    const { status, answer } = await tryOut(page, "operator v0", "getOperator", {});
    expect({ status, answer }).toEqual({ status: "200", answer: { partyId: party("utility-operator") } });
    await expectNoProblem(page);
  });

  test("sends a GET with a party in its path", async () => {
    const page = await open("/docs");
    const { status, answer } = await tryOut(page, "metadata v1", "getRegistryInfo", {
      registrarParty: nordic,
    });
    expect(status).toBe("200");
    expect(answer).toMatchObject({ adminId: nordic, supportedApis: { "splice-api-token-metadata-v1": 2 } });
    await expectNoProblem(page);
  });

  test("sends a GET with parameters in path and query", async () => {
    const parameters = { registrarParty: party("acme-registrar"), pageSize: "1" };
    const page = await open("/docs/");
    const { status, answer } = await tryOut(page, "metadata v1", "listInstruments", parameters);
    expect(status).toBe("200");
    expect(answer).toMatchObject({ instruments: [{ id: "ACME-BOND" }], nextPageToken: expect.any(String) });
    await expectNoProblem(page);
  });

  test("sends a POST with a body", async () => {
    const page = await open("/docs");
    const transfer = {
      sender: party("bob"),
      receiver: party("carol"),
      amount: "10.0",
      instrumentId: { admin: nordic, id: "NOK-CASH" },
      requestedAt: "2026-06-01T00:00:00Z",
      executeBefore: "2036-06-01T00:00:00Z",
      inputHoldingCids: [],
      meta: { values: {} },
    };
    const body = { choiceArguments: { expectedAdmin: nordic, transfer, extraArgs: { context: {}, meta: {} } } };
    const id = "getTransferFactory";
    const { status, answer } = await tryOut(page, "transfer instruction v1", id, { registrarParty: nordic }, body);
    expect(status).toBe("200");
    expect(answer).toMatchObject({ transferKind: "offer", choiceContext: { choiceContextData: { values: {} } } });
    expect(answer["factoryId"]).toMatch(/^00[\da-f]{136}$/);
    await expectNoProblem(page);
  });

  test("sends a POST without a body, with a contract id of full length", async () => {
    const page = await open("/docs");
    const burnOfferId = findContract("Utility.Registry.App.V0.Model.Burn:BurnOffer");
    const { status, answer } = await tryOut(page, "burn v0", "getBurnOfferCancelContext", { burnOfferId });
    expect(status).toBe("200");
    expect(answer).toMatchObject({ choiceContextData: { values: {} } });
    await expectNoProblem(page);
  });

  test.each([
    ["transfer instruction v1", "getTransferFactory"],
    ["transfer instruction v2", "getTransferFactoryV2"],
    ["allocation v2", "getSettlementFactory"],
    ["metadata v1", "listInstruments"],
    ["burn v0", "getBurnRequestAcceptContext"],
  ])("as it opens, %s %s succeeds", async (tag, id) => {
    const page = await open("/docs");
    expect((await tryOut(page, tag, id, {})).status).toBe("200");
    await expectNoProblem(page);
  });

  test("has no Authorize button, because no token is needed", async () => {
    const page = await open("/docs");
    expect(await page.texts(".auth-wrapper .authorize")).toEqual([]);
  });

  test("sends a token where one is needed", async () => {
    const key = await Key.make("first");
    const publisher = new JwksServer([key]);
    await publisher.open();
    onTestFinished(() => publisher.close());
    const config = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
    const secured = await serveFile(undefined, { now: NOW, config });
    onTestFinished(() => secured.close());
    const page = await browser.open(`${secured.url}/docs`);
    await page.click(".auth-wrapper .authorize");
    await page.type(".auth-container input", await key.sign());
    await page.click(".auth-container button[type=submit]");
    await page.click(".modal-ux .btn-done");
    expect((await tryOut(page, "transfer instruction v1", "getTransferFactory", {})).status).toBe("200");
    expect(page.problems).toEqual([]);
  });

  test("shows the error of a failed request", async () => {
    const page = await open("/docs");
    const parameters = { registrarParty: "nobody::1220" };
    const { status, answer } = await tryOut(page, "metadata v1", "getRegistryInfo", parameters);
    expect(status).toBe("404");
    expect(answer).toEqual({ error: expect.stringContaining("nobody::1220") });
  });

  test("blocks scripts of other servers", async () => {
    const page = await open("/docs");
    const url = "http://127.0.0.1:9/script.js";
    await page.evaluate(
      `{ const script = document.createElement("script"); script.src = "${url}"; document.body.append(script); }`,
    );
    await page.settled();
    expect(page.problems.join("\n")).toContain(`Loading the script '${url}' violates`);
  });
});

/** Opens an operation, fills in its parameters, sends it, and reads the response from the page. */
async function tryOut(
  page: Page,
  tag: string,
  id: string,
  parameters: Readonly<Record<string, string>>,
  body?: JsonObject,
) {
  const block = `#operations-${tag.replaceAll(" ", "_")}-${id}`;
  await page.click(`.opblock-tag[data-tag="${tag}"]`);
  await page.click(`${block} .opblock-summary-control`);
  await page.click(`${block} .try-out__btn`);
  for (const [name, value] of Object.entries(parameters)) {
    await page.type(`${block} tr[data-param-name="${name}"] input`, value);
  }
  if (body !== undefined) await page.type(`${block} .body-param textarea`, JSON.stringify(body));
  await page.click(`${block} .execute`);
  const answer = `${block} .live-responses-table .response`;
  await page.shows(`${answer} .response-col_status`);
  const [status = ""] = await page.texts(`${answer} .response-col_status`);
  const [shown = ""] = await page.texts(`${answer} .highlight-code code`);
  return { status, answer: JSON.parse(shown) as JsonObject };
}

function findContract(qualifiedName: string): string {
  for (const { contractEntry } of elements) {
    const { JsActiveContract: active } = contractEntry as {
      JsActiveContract?: { createdEvent: { templateId: string; contractId: string } };
    };
    if (active?.createdEvent.templateId.endsWith(`:${qualifiedName}`) === true) return active.createdEvent.contractId;
  }
  throw new Error(`the demo has no ${qualifiedName}`);
}
