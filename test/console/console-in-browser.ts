/** A service with refused requests, and a browser for its console. */
import { party } from "../../demo/element.js";
import type { JsonObject } from "../../src/domain/json.js";
import { Browser, chromium, type Page } from "../docs-page/chromium.js";
import { cashTransfer } from "../fixtures/calls/index.js";
import { registry } from "../fixtures/run-service.js";
import { openConsole, type Screen, WIDE } from "./browser-page.js";
import { type ServedConsole, serveConsole } from "./serve-console.js";

export { chromium };
export const skipped = chromium === undefined ? " (skipped: no chromium on the PATH)" : "";

export const acme = party("acme-registrar");
/** A name that a page which reads it as HTML would run. */
export const EVIL = '<img src=x onerror="window.ran = true">';
/** No contract has this id. */
export const UNKNOWN = `00${"ab".repeat(68)}`;

/** A request that succeeds in the demo. */
export const FACTORY = "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";
export const TRANSFER: JsonObject = cashTransfer.request as JsonObject;

export interface ConsoleInBrowser {
  readonly served: ServedConsole;
  readonly browser: Browser;
  /** Opens a route. */
  open(screen?: Screen, route?: string): Promise<Page>;
  /** Makes a request that the rules refuse, and returns its id from the answer. */
  refuse(requestId?: string, registrar?: string): Promise<string>;
  close(): Promise<void>;
}

/** Starts both, and makes two requests that are refused and one that succeeds. */
export async function startConsole(): Promise<ConsoleInBrowser> {
  const served = await serveConsole();
  const browser = await Browser.start(chromium ?? "");
  const refuse = async (requestId?: string, registrar = acme): Promise<string> => {
    const path = `${registry(registrar)}/transfer-instruction/v1/${UNKNOWN}/choice-contexts/accept`;
    const given = requestId === undefined ? {} : { "x-request-id": requestId };
    const headers = { "content-type": "application/json", ...given };
    const response = await fetch(served.publicUrl + path, { method: "POST", body: "{}", headers });
    const id = response.headers.get("x-request-id") ?? "";
    if (response.status !== 404 || id !== (requestId ?? id)) throw new Error(`${response.status}, id ${id}`);
    return id;
  };
  await refuse("unknown-instruction");
  await refuse("evil-registrar", EVIL);
  await fetch(`${served.publicUrl}${registry(acme)}/metadata/v1/info`);
  return {
    served,
    browser,
    open: (screen = WIDE, route = "") => openConsole(browser, served.url, screen, route),
    refuse,
    async close() {
      await browser.close();
      await served.close();
    },
  };
}
