/** The page at /docs in a browser. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { AUDIENCE, ISSUER, JwksServer, Key, NOW } from "../fixtures/issuer.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { Browser, chromium, type Page } from "./chromium.js";

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

  test("loads", async () => {
    const page = await open("/docs");
    expect(await page.evaluate("document.title")).toBe("offledger");
    expect(await page.texts(".info .title")).toEqual([expect.stringContaining("offledger")]);
    await expectNoProblem(page);
  });

  type Parameters = Readonly<Record<string, string>>;

  test.each<[tag: string, id: string, Parameters, status: string, answer: object]>([
    ["transfer instruction v2", "getTransferFactoryV2", {}, "200", { factoryId: expect.any(String) as string }],
    [
      "metadata v1",
      "getRegistryInfo",
      { registrarParty: "nobody::1220" },
      "404",
      { error: expect.any(String) as string },
    ],
  ])("sends %s %s with %j", async (tag, id, parameters, status, answer) => {
    const page = await open("/docs");
    expect(await tryOut(page, tag, id, parameters)).toMatchObject({ status, answer });
    if (status === "200") await expectNoProblem(page);
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
});

/** Opens an operation, fills in its parameters, sends it, and reads the response from the page. */
async function tryOut(page: Page, tag: string, id: string, parameters: Readonly<Record<string, string>>) {
  const block = `#operations-${tag.replaceAll(" ", "_")}-${id}`;
  await page.click(`.opblock-tag[data-tag="${tag}"]`);
  await page.click(`${block} .opblock-summary-control`);
  await page.click(`${block} .try-out__btn`);
  for (const [name, value] of Object.entries(parameters)) {
    await page.type(`${block} tr[data-param-name="${name}"] input`, value);
  }
  await page.click(`${block} .execute`);
  const answer = `${block} .live-responses-table .response`;
  await page.shows(`${answer} .response-col_status`);
  const [status = ""] = await page.texts(`${answer} .response-col_status`);
  const [shown = ""] = await page.texts(`${answer} .highlight-code code`);
  return { status, answer: JSON.parse(shown) as JsonObject };
}
