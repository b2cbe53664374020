/** A service with refused requests, and what tests do with its console in a browser, as its user and as its observer. */
import { readFileSync } from "node:fs";
import { party } from "../../demo/element.js";
import { startApp } from "../../src/app/app.js";
import type { AppConfig } from "../../src/config/limits.js";
import { Browser, chromium, type Page } from "../docs-page/chromium.js";
import { quiet, registry } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";

export interface ServedConsole {
  /** The base URL of the public port. */
  readonly publicUrl: string;
  /** The base URL of the operator's port. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the service at the time of the demo. */
export async function serveConsole(config: Partial<AppConfig> = {}): Promise<ServedConsole> {
  const now = Date.parse("2026-06-01T00:00:00Z");
  const app = await startApp({ ...quiet(), metricsPort: { host: "127.0.0.1", port: 0 }, ...config }, () => now);
  if (app.metricsUrl === undefined) throw new Error("the operator's port is not served");
  return { publicUrl: app.url, url: new URL(app.metricsUrl).origin, close: () => app.close() };
}

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

export interface Screen {
  readonly width: number;
  readonly height: number;
  readonly scheme: "dark" | "light";
}

export const WIDE: Screen = { width: 1280, height: 800, scheme: "light" };

/** Opens the console on a screen. */
export async function openConsole(browser: Browser, url: string, screen: Screen, route = ""): Promise<Page> {
  const page = await browser.open("about:blank");
  const { width, height, scheme } = screen;
  await page.command("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  await page.command("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  // Phones have none.
  await page.command("Emulation.setScrollbarsHidden", { hidden: true });
  // Without it `focus` events of a page in the background are late.
  await page.command("Emulation.setFocusEmulationEnabled", { enabled: true });
  await page.command("Page.navigate", { url: `${url}/console${route}` });
  await page.shows("main h1");
  await isShown(page);
  return page;
}

/** Goes to a route, as a link does, and waits until the view has its content. */
export async function goTo(page: Page, route: string): Promise<void> {
  await page.evaluate(`document.querySelector("h1").dataset.left = ""; location.hash = ${JSON.stringify(route)}`);
  await until(`the page has left for ${route}`, async () => {
    return (await page.evaluate(`document.querySelector("h1[data-left]") === null`)) === true;
  });
  await isShown(page);
}

/** Waits until nothing is loading. */
export async function isShown(page: Page): Promise<void> {
  await until("the view is shown", async () => {
    const texts = await page.texts(".result .empty");
    return texts.every((text) => !text.endsWith("…"));
  });
  await page.settled();
}

/** Violations of accessibility rules, each with the elements. */
export async function violations(page: Page): Promise<unknown> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(`${axe};0`);
  return page.evaluate(
    `axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) =>
      ({ id, impact, nodes: nodes.map(({ target, failureSummary }) => target.join(" ") + ": " + failureSummary) })))`,
  );
}

/** The text of the view, as it is seen. */
export const bodyOf = async (page: Page): Promise<string> =>
  (await page.evaluate("document.querySelector('main').innerText")) as string;

/** The titles of elements: ids in full. */
export const titlesOf = async (page: Page, selector: string): Promise<string[]> =>
  (await page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map(({ title }) => title)`,
  )) as string[];

/** How many pixels the page is wider than the screen. */
export const overflow = (page: Page): Promise<unknown> =>
  page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");

const KEYS = {
  Tab: { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 },
  Enter: { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" },
  Space: { key: " ", code: "Space", windowsVirtualKeyCode: 32, text: " " },
} as const;

/** Presses a key. */
export async function press(page: Page, name: keyof typeof KEYS): Promise<void> {
  const key = KEYS[name];
  await page.command("Input.dispatchKeyEvent", { type: "text" in key ? "keyDown" : "rawKeyDown", ...key });
  await page.command("Input.dispatchKeyEvent", { type: "keyUp", ...key });
}

interface Focused {
  readonly tag: string;
  readonly label: string;
  /** Whether the focus can be seen: an outline, in the visible part of the page. */
  readonly isVisible: boolean;
}

/** The element that has the focus. */
export async function focused(page: Page): Promise<Focused> {
  return (await page.evaluate(`{
    const element = document.activeElement;
    const { top, bottom, width } = element.getBoundingClientRect();
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    ({
      tag: element.localName,
      label: element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent.trim(),
      isVisible: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && bottom > 0 && top < innerHeight && width > 0,
    });
  }`)) as Focused;
}

/** Presses Tab until an element with this label has the focus, each of them visibly. */
export async function tabTo(page: Page, label: string): Promise<void> {
  for (let count = 0; count < 60; count++) {
    await press(page, "Tab");
    const { tag, label: found, isVisible } = await focused(page);
    if (!isVisible) throw new Error(`the focus on ${tag} "${found}" cannot be seen`);
    if (found === label) return;
  }
  throw new Error(`60 times Tab did not lead to "${label}"`);
}

export const acme = party("acme-registrar");
/** A name that a page which reads it as HTML would run. */
export const EVIL = '<img src=x onerror="window.ran = true">';
/** No contract has this id. */
export const UNKNOWN = `00${"ab".repeat(68)}`;

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
