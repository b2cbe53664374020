/** How the page of the console behaves: keyboard, refresh, token. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { until } from "../fixtures/wait.js";
import {
  bodyOf,
  focused,
  goTo,
  isShown,
  keepScreenshot,
  openConsole,
  press,
  tabTo,
  violations,
  WIDE,
} from "./browser-page.js";
import { chromium, type ConsoleInBrowser, skipped, startConsole } from "./console-in-browser.js";
import { serveConsole } from "./serve-console.js";

describe.skipIf(chromium === undefined)(`the page of the console${skipped}`, () => {
  let running: ConsoleInBrowser;
  beforeAll(async () => {
    running = await startConsole();
  }, 60_000);
  afterAll(() => running.close());

  test("works with the keyboard alone", async () => {
    const page = await running.open();
    await press(page, "Tab");
    expect(await focused(page)).toEqual({ tag: "a", label: "Skip to content", isVisible: true });
    await press(page, "Enter");
    expect((await focused(page)).tag).toBe("main");
    await tabTo(page, "Filter by registrar, instrument, kind of warning or other text");
    await goTo(page, "#/overview");
    await page.evaluate("document.activeElement.blur()");
    // From the start of the page.
    await page.evaluate("document.querySelector('#skip').focus()");
    await tabTo(page, "Refusals");
    await press(page, "Enter");
    await until("the view has changed", async () => (await page.texts("h1")).includes("Refusals"));
    expect(await focused(page)).toMatchObject({ tag: "h1", label: "Refusals" });
    await isShown(page);
    await tabTo(page, "Request id");
    await page.command("Input.insertText", { text: "unknown-instruction" });
    await until("one is left", async () => (await page.texts("tbody tr")).length === 1);
    await tabTo(page, "Code");
    await tabTo(page, "Explain unknown-instruction");
    await press(page, "Enter");
    await page.shows(".verdict");
    expect(await focused(page)).toMatchObject({ tag: "h1", label: "Explain" });
    expect(page.problems).toEqual([]);
  });

  test("refreshes without losing focus, filter or open details, and stops when nobody looks", async () => {
    const page = await running.open(WIDE, "#/refusals");
    await page.evaluate(`document.querySelector('[aria-label="Explain unknown-instruction"]').focus()`);
    const id = `later-${Date.now()}`;
    await running.refuse(id);
    await until("the page shows the new refusal", async () => (await bodyOf(page)).includes(id), 30_000);
    expect((await focused(page)).label).toBe("Explain unknown-instruction");
    const reads = () => page.requested.filter((url) => url.endsWith("/console/refusals")).length;
    await page.evaluate(
      `Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
       document.dispatchEvent(new Event("visibilitychange"))`,
    );
    await page.settled();
    const before = reads();
    // More than two of its intervals.
    await pause(11_000);
    expect(reads()).toBe(before);
    await page.evaluate(`delete document.visibilityState; document.dispatchEvent(new Event("visibilitychange"))`);
    await until("the page reads again", () => reads() > before, 30_000);
  });

  test("copies ids", async () => {
    const page = await running.open();
    await running.browser.send("Browser.grantPermissions", {
      origin: running.served.url,
      permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"],
    });
    await page.click("button.copy");
    await until("the page has copied", async () => (await page.texts("#announcements")).includes("Copied"));
    const [full] = [await page.evaluate("document.querySelector('button.copy').dataset.copy")];
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(full);
    expect(String(full)).toMatch(/^(?:00[\da-f]+|.+::1220[\da-f]+)$/);
  });

  test("asks for the token, and keeps it for the tab only", async () => {
    const folder = await mkdtemp(join(tmpdir(), "offledger-console-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const operatorTokenFile = join(folder, "token");
    await writeFile(operatorTokenFile, "the-token-of-operators");
    const secured = await serveConsole({ operatorTokenFile });
    onTestFinished(() => secured.close());
    const page = await openConsole(running.browser, secured.url, WIDE, "#/requests");
    await page.shows("#token");
    expect(await page.texts("h1")).toEqual(["Token required"]);
    expect(await focused(page)).toMatchObject({ tag: "input", label: "Token" });
    await keepScreenshot(page, "token-1280-light");
    expect(await violations(page)).toEqual([]);
    await page.type("#token", "another-token");
    await page.click("form button");
    await page.shows(".notice.bad");
    expect(await page.texts(".notice.bad")).toEqual(["token is not the one of the operator"]);
    await page.type("#token", "the-token-of-operators");
    await page.click("form button");
    await until("the view is shown", async () => (await page.texts("h1")).includes("Requests"));
    await isShown(page);
    expect(await page.texts(".notice.bad")).toEqual([]);
    expect(await page.evaluate("[localStorage.length, document.cookie, location.href]")).toEqual([
      0,
      "",
      `${secured.url}/console#/requests`,
    ]);
    await page.click("#forget");
    await page.shows("#token");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});
