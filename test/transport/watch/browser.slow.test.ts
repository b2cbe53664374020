/** A page of another origin in a real browser: EventSource, which resumes by itself. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, chromium, type Page } from "../../docs-page/chromium.js";
import { type CuttableProxy, startCuttableProxy } from "../../fixtures/cuttable-proxy.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";

const skipped = chromium === undefined ? " (skipped: no chromium on the PATH)" : "";

describe.skipIf(chromium === undefined)(`a browser${skipped}`, () => {
  const site = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end("<p>wallet</p>"),
  );
  let running: Running;
  let proxy: CuttableProxy;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    running = await serveFile(undefined);
    proxy = await startCuttableProxy(running.url);
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    browser = await Browser.start(chromium ?? "");
    page = await browser.open(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    await page.settled();
  });
  afterAll(async () => {
    await browser.close();
    await proxy.close();
    site.close();
    await running.close();
  });

  test("follows the stream, and resumes after a cut where it was", async () => {
    await page.evaluate(`
      globalThis.events = [];
      const source = new EventSource("${proxy.url}/api/offledger/v1/watch");
      for (const type of ["reset", "changed", "heartbeat"])
        source.addEventListener(type, ({ lastEventId, data }) =>
          globalThis.events.push({ type, lastEventId, ...JSON.parse(data) }));
    `);
    const events = async () =>
      JSON.parse((await page.evaluate("JSON.stringify(globalThis.events)")) as string) as {
        readonly type: string;
        readonly lastEventId: string;
      }[];
    await until("the first event is there", async () => (await events()).length === 1);
    const [first] = await events();
    expect(first?.type).toBe("reset");
    proxy.cut();
    proxy.restore();
    await until("the stream has resumed", async () => (await events()).length === 2);
    expect((await events())[1]).toMatchObject({ type: "heartbeat", lastEventId: first?.lastEventId });
  });
});
