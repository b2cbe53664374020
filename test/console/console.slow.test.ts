/** Every view of the console on every screen. `test/console/screenshots` has the pictures. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { party } from "../../demo/element.js";
import { goTo, keepScreenshot, overflow, type Screen, titlesOf, violations } from "./browser-page.js";
import {
  chromium,
  type ConsoleInBrowser,
  EVIL,
  FACTORY,
  skipped,
  startConsole,
  TRANSFER,
  UNKNOWN,
} from "./console-in-browser.js";

const screens: readonly Screen[] = [390, 1280].flatMap((width) =>
  (["light", "dark"] as const).map((scheme) => ({ width, height: width === 390 ? 844 : 800, scheme })),
);

describe.skipIf(chromium === undefined)(`every view of the console${skipped}`, () => {
  let running: ConsoleInBrowser;
  beforeAll(async () => {
    running = await startConsole();
  }, 60_000);
  afterAll(() => running.close());

  test.each(screens)("on $width px, $scheme", async (screen) => {
    const page = await running.open(screen);
    const [contract = ""] = await titlesOf(page, "main a[href^='#/contract?']");
    expect(contract).toMatch(/^00[\da-f]{100,}$/);
    const routes: Readonly<Record<string, string>> = {
      overview: "#/overview",
      freshness: "#/freshness",
      requests: "#/requests",
      refusals: "#/refusals",
      "refusals-none": "#/refusals?request=nothing",
      explain: "#/explain",
      "explain-refused": "#/explain?request=unknown-instruction",
      "explain-factory": `#/explain?${new URLSearchParams({ operation: FACTORY, json: JSON.stringify(TRANSFER) }).toString()}`,
      party: "#/party",
      "party-found": `#/party?id=${encodeURIComponent(party("dave"))}`,
      "party-unknown": `#/party?id=${encodeURIComponent(EVIL)}`,
      contract: "#/contract",
      "contract-found": `#/contract?id=${contract}`,
      "contract-unknown": `#/contract?id=${UNKNOWN}`,
    };
    const found: Record<string, unknown> = {};
    for (const [name, route] of Object.entries(routes)) {
      await goTo(page, route);
      await keepScreenshot(page, `${name}-${screen.width}-${screen.scheme}`);
      // What is folded counts too.
      await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true');
      found[name] = { overflow: await overflow(page), violations: await violations(page) };
    }
    expect(found).toEqual(
      Object.fromEntries(Object.keys(routes).map((name) => [name, { overflow: 0, violations: [] }])),
    );
    expect(page.problems).toEqual([]);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(
      page.requested.filter((url) => !url.startsWith(running.served.url) && !/^(?:data|about):/.test(url)),
    ).toEqual([]);
  });
});
