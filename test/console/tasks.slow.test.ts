/** What operators do in the console. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { party } from "../../demo/element.js";
import { until } from "../fixtures/wait.js";
import { bodyOf, goTo, WIDE } from "./browser-page.js";
import {
  acme,
  chromium,
  type ConsoleInBrowser,
  FACTORY,
  skipped,
  startConsole,
  TRANSFER,
  UNKNOWN,
} from "./console-in-browser.js";

describe.skipIf(chromium === undefined)(`in the console${skipped}`, () => {
  let running: ConsoleInBrowser;
  beforeAll(async () => {
    running = await startConsole();
  }, 60_000);
  afterAll(() => running.close());

  test("the overview shows registrars, instruments and warnings, and filters them", async () => {
    const page = await running.open();
    const all = await bodyOf(page);
    for (const text of ["acme-registrar::", "nordic-registrar::", "ACME-BOND", "NOK-CASH", "demo/registry.ndjson"]) {
      expect(all).toContain(text);
    }
    await until(
      "the first check is finished",
      async () => (await bodyOf(page)).includes("credentials-missing"),
      30_000,
    );
    expect(await bodyOf(page)).toContain("Remedy:");
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

  test("what comes from the ledger and from callers is text", async () => {
    const page = await running.open(WIDE, "#/refusals?request=evil-registrar");
    expect(await bodyOf(page)).toContain("<img src=x onerror=");
    await goTo(page, "#/explain?request=evil-registrar");
    expect(await bodyOf(page)).toContain("<img src=x onerror=");
    expect(await page.evaluate("document.querySelectorAll('main img').length")).toBe(0);
    expect(await page.evaluate("window.ran")).toBeUndefined();
  });
});
