/** The console in Chromium: every view on every screen, what operators do, keyboard, refresh and token. */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { party } from "../../demo/element.js";
import type { JsonObject } from "../../src/util/json.js";
import { chromium } from "../docs-page/chromium.js";
import { cashTransfer } from "../fixtures/calls/index.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { temporaryFile } from "../fixtures/files.js";
import { until } from "../fixtures/wait.js";
import {
  acme,
  bodyOf,
  type ConsoleInBrowser,
  EVIL,
  focused,
  goTo,
  isShown,
  openConsole,
  overflow,
  press,
  type Screen,
  serveConsole,
  startConsole,
  tabTo,
  titlesOf,
  UNKNOWN,
  violations,
  WIDE,
} from "./console-in-browser.js";

/** A request that succeeds in the demo. */
const FACTORY = "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";
const TRANSFER = cashTransfer.request as JsonObject;
const screens: readonly Screen[] = [390, 1280].flatMap((width) =>
  (["light", "dark"] as const).map((scheme) => ({ width, height: width === 390 ? 844 : 800, scheme })),
);

const skipped = chromium === undefined ? " (skipped: no chromium on the PATH)" : "";

describe.skipIf(chromium === undefined)(`the console${skipped}`, () => {
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
      "party-unknown": `#/party?id=${encodeURIComponent(`${EVIL}::1220`)}`,
      contract: "#/contract",
      "contract-found": `#/contract?id=${contract}`,
      "contract-unknown": `#/contract?id=${UNKNOWN}`,
    };
    const found: Record<string, unknown> = {};
    for (const [name, route] of Object.entries(routes)) {
      await goTo(page, route);
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

  test("the overview shows registrars, instruments and warnings, and filters them", async () => {
    const page = await running.open();
    const all = await bodyOf(page);
    for (const text of ["acme-registrar::", "nordic-registrar::", "ACME-BOND", "NOK-CASH", "demo/registry.ndjson"]) {
      expect(all).toContain(text);
    }
    await until("the first check is finished", async () => (await bodyOf(page)).includes("credential-missing"), 30_000);
    expect(await bodyOf(page)).toContain("What helps:");
    await page.type("#filter", "nok-cash");
    await until("the filter applies", async () => !(await bodyOf(page)).includes("ACME-BOND"));
    expect(await bodyOf(page)).toContain("NOK-CASH");
  });

  test("freshness has graphs, each with what it says as a text, and a table", async () => {
    const page = await running.open(WIDE, "#/freshness");
    await page.shows("figure svg[role=img][aria-label]");
    expect(await page.texts("figure .chart-title")).toEqual([
      "Age of the contracts",
      "Offset",
      "Reconnects to the ledger",
    ]);
    await page.click("details summary");
    expect((await page.texts("tbody tr")).length).toBeGreaterThan(0);
  });

  test("a refused request is found by its id and explained", async () => {
    const id = await running.refuse();
    const page = await running.open(WIDE, "#/requests");
    expect(await bodyOf(page)).toContain("transfer-instruction v1 GetTransferInstructionAcceptContext");
    await goTo(page, "#/refusals");
    expect((await page.texts("tbody tr")).length).toBeGreaterThan(1);
    await page.type("#request-id", id);
    await until("one is left", async () => (await page.texts("tbody tr")).length === 1);
    expect(await page.evaluate("location.hash")).toBe(`#/refusals?request=${id}`);
    await page.click("tbody tr a");
    await page.shows(".verdict");
    expect(await page.texts("h1")).toEqual(["Explain"]);
    expect(await page.texts(".verdict h2")).toEqual(["The request is refused: not_found"]);
    expect(await page.texts(".verdict .notice p")).toEqual([expect.stringContaining("is not known here")]);
    expect((await page.texts(".causes .badge")).length).toBeGreaterThan(0);
    expect(await page.evaluate(`document.querySelector(".causes a[href^='#/contract']").title`)).toBe(UNKNOWN);
    // The form has the request, so that it can be changed.
    const operation =
      "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferInstructionAcceptContext";
    expect(await page.evaluate("document.querySelector('#operation').value")).toBe(operation);
    expect(JSON.parse(String(await page.evaluate("document.querySelector('#request-json').value")))).toMatchObject({
      registrarParty: acme,
      transferInstructionId: UNKNOWN,
    });
  });

  test("a request that succeeds is explained, at another time too, and not tried without a participant", async () => {
    const page = await running.open(WIDE, "#/explain");
    await page.type("#operation", FACTORY);
    await page.type("#request-json", JSON.stringify(TRANSFER));
    await page.type("#at", "2026-06-02T00:00:00Z");
    await page.click("form[aria-label='Explain any request'] button[type=submit]");
    await page.shows(".verdict");
    expect(await page.texts(".verdict h2")).toEqual(["The request succeeds"]);
    expect(await page.texts(".verdict time")).toContain("2026-06-02 00:00:00");
    expect(await page.texts("section h2")).toEqual(
      expect.arrayContaining(["Searches", "Requirements", "Disclosed contracts"]),
    );
    expect(await page.texts("article .badge")).toContain("chosen");
    await page.click(".try summary");
    expect(await page.evaluate("document.querySelector('#choice').value")).toBe("TransferFactory_Transfer");
    expect(await page.evaluate("document.querySelector('#act-as').value")).toBe(party("bob"));
    await page.click("form[aria-label='Try on the ledger'] button[type=submit]");
    await page.shows(".try .notice.bad");
    const [sentence = ""] = await page.texts(".try .notice.bad");
    expect(sentence).toMatch(/OFFLEDGER_PREPARE_USER_ID/);
  });

  test("a request that is not JSON is not sent", async () => {
    const page = await running.open(WIDE, "#/explain");
    await page.type("#operation", FACTORY);
    await page.type("#request-json", "{");
    await page.click("form[aria-label='Explain any request'] button[type=submit]");
    expect(await page.evaluate("document.querySelector('#request-json').validationMessage")).toMatch(
      /^It must be JSON/,
    );
    expect(await page.evaluate("location.hash")).toBe("#/explain");
  });

  test("a request id that is not kept is answered by the sentence of the service", async () => {
    const page = await running.open(WIDE, "#/explain?request=not-kept");
    await page.shows(".notice.bad");
    expect((await page.texts(".notice.bad")).join()).toContain("not-kept");
  });

  test("a party has its credentials and what is pending", async () => {
    const page = await running.open(WIDE, "#/party");
    await page.type("#lookup", party("dave"));
    await page.click("form button[type=submit]");
    await page.shows(".result h2");
    expect(await page.texts(".result h2")).toEqual(["Credentials", "Preapprovals", "Pending instructions"]);
    const body = await bodyOf(page);
    expect(body).toContain("isHolderOf = ACME-BOND");
    await page.click("main a[href^='#/explain?']");
    await page.shows(".verdict");
  });

  test("a text that is no party id is called that", async () => {
    const page = await running.open(WIDE, "#/party");
    await page.type("#lookup", "nobody");
    await page.click("form button[type=submit]");
    await page.shows(".notice.bad");
    expect(await page.texts(".notice.bad")).toEqual(['party is "nobody": a party id is hint::fingerprint']);
    expect(await page.texts(".result h2")).toEqual([]);
  });

  test("what comes from the ledger and from callers is text", async () => {
    const page = await running.open(WIDE, "#/refusals?request=evil-registrar");
    expect(await bodyOf(page)).toContain("<img src=x onerror=");
    await goTo(page, "#/explain?request=evil-registrar");
    expect(await bodyOf(page)).toContain("<img src=x onerror=");
    expect(await page.evaluate("document.querySelectorAll('main img').length")).toBe(0);
    expect(await page.evaluate("window.ran")).toBeUndefined();
  });

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
    const operatorTokenFile = await temporaryFile("token", "the-token-of-operators");
    const secured = await serveConsole({ operatorTokenFile });
    onTestFinished(() => secured.close());
    const page = await openConsole(running.browser, secured.url, WIDE, "#/requests");
    await page.shows("#token");
    expect(await page.texts("h1")).toEqual(["Token required"]);
    expect(await focused(page)).toMatchObject({ tag: "input", label: "Token" });
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

  test("a factory that was given up is passed over, a paused instrument noted, and candidates beyond those listed counted", async () => {
    const onB = { synchronizerId: "sync-B", createdAt: "2026-02-01T00:00:00Z" };
    const contracts = [
      element("AllocationFactory", "old-factory", payload.service(), { createdAt: "2026-01-01T00:00:00Z" }),
      // Newer, and alone on its synchronizer.
      element("AllocationFactory", "new-factory", payload.service(), onB),
      ...Array.from({ length: 51 }, (_, index) =>
        element("InstrumentConfiguration", `usd-${index}`, payload.configuration("USD", { isPaused: true })),
      ),
    ];
    const snapshot = await temporaryFile("registry.ndjson", contracts.map((one) => JSON.stringify(one)).join("\n"));
    const served = await serveConsole({ snapshot });
    onTestFinished(() => served.close());
    const request = { instrumentId: { admin: parties.registrar, id: "USD" }, holder: "alice" };
    const operation = "offledger.mint.v0.MintService/GetMintRequestCreateContext";
    const query = new URLSearchParams({ operation, json: JSON.stringify(request) });
    const page = await openConsole(running.browser, served.url, WIDE, `#/explain?${query.toString()}`);
    await page.shows(".verdict");
    expect(await page.texts(".verdict h2")).toEqual(["The request succeeds"]);
    expect(await page.texts("section h2")).toContain("Notes");
    const body = await bodyOf(page);
    for (const text of ["is paused: the choice may fail on the ledger.", "was tried first, but ", "and 1 more"])
      expect(body).toContain(text);
  });
});
