/** The HTTP responses of the console. It needs dist/console, which `npm run build` writes. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sendHttp1 } from "../fixtures/requests-in-forms.js";
import { type ServedConsole, serveConsole } from "./console-in-browser.js";

const MAX_BYTES = 150 * 1024;
const TOKEN = "a-token-of-the-test";
const files = readdirSync("dist/console", { recursive: true, encoding: "utf8" }).filter((name) => name.includes("."));

let served: ServedConsole;
let secured: ServedConsole;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "offledger-console-"));
  const operatorTokenFile = join(folder, "token");
  writeFileSync(operatorTokenFile, TOKEN);
  served = await serveConsole();
  secured = await serveConsole({ operatorTokenFile });
});
afterAll(async () => {
  await served.close();
  await secured.close();
  rmSync(folder, { recursive: true });
});

describe("the page", () => {
  test.each([
    ["/console", "text/html; charset=utf-8"],
    ["/console/", "text/html; charset=utf-8"],
    ["/console?a=b", "text/html; charset=utf-8"],
    ["/console/main.js", "application/javascript; charset=utf-8"],
    ["/console/views/overview.js", "application/javascript; charset=utf-8"],
    ["/console/style.css", "text/css; charset=utf-8"],
    ["/console/icon.svg", "image/svg+xml"],
  ])("%s is %s, with strict headers", async (path, type) => {
    const response = await fetch(served.url + path);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": type,
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    });
    expect((await response.text()).length).toBeGreaterThan(200);
  });

  test("is not sent to a browser that has it", async () => {
    const etag = (await fetch(`${served.url}/console`)).headers.get("etag") ?? "";
    expect(etag).not.toBe("");
    // Not by fetch, which would ask caches to be passed over.
    const again = await sendHttp1(served.url, { method: "GET", path: "/console", headers: { "if-none-match": etag } });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  test("is where / leads", async () => {
    const response = await fetch(`${served.url}/`, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([302, "/console"]);
  });

  test.each(["/console/nothing.js", "/console/..%2f..%2fpackage.json", "/console/tsconfig.json", "/console/views"])(
    "%s is not found",
    async (path) => {
      const response = await fetch(served.url + path);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({ error: `nothing is served at GET ${path}` });
    },
  );
});

test("with a token, the page is open and what it reads is not", async () => {
  for (const path of ["/console", "/console/main.js", "/console/style.css", "/console/icon.svg"]) {
    expect((await fetch(secured.url + path)).status).toBe(200);
  }
  const api = `${secured.url}/api/offledger/v1/console/inventory`;
  const response = await fetch(api);
  expect(response.status).toBe(401);
  expect(await response.json()).toEqual({ error: "bearer token required in the Authorization header" });
  expect((await fetch(api, { headers: { authorization: `Bearer ${TOKEN}` } })).status).not.toBe(401);
});

describe("the files", () => {
  test("are at most 150 KB together", () => {
    const sizes = files.map((name) => readFileSync(join("dist/console", name)).length);
    expect(sizes.length).toBeGreaterThan(20);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_BYTES);
  });

  test("refer to nothing elsewhere, and put no text in as HTML", () => {
    for (const name of files) {
      const text = readFileSync(join("dist/console", name), "utf8");
      // The namespace of SVG is a name, not an address.
      const urls = text.replaceAll("http://www.w3.org/2000/svg", "").match(/(?:https?:)?\/\/[\w-]+\.[\w.-]+/g);
      expect({ name, urls }).toEqual({ name, urls: null });
      const html = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|DOMParser/.exec(text);
      expect({ name, html }).toEqual({ name, html: null });
    }
  });

  test("have no script or style in the page, which its policy would not run", () => {
    const page = readFileSync("console/index.html", "utf8");
    expect(page.match(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/gi)).toBeNull();
  });
});
