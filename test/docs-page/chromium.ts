/** A headless Chromium, controlled by the Chrome DevTools Protocol. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { WebSocket } from "ws";
import type { JsonObject } from "../../src/util/json.js";
import { until, within } from "../fixtures/wait.js";

const TIMEOUT_MS = 20_000;

export const chromium: string | undefined = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin"]
  .map((folder) => join(folder, "chromium"))
  .find(isExecutable);

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A message from the browser: the result of a command, or an event. */
interface Incoming {
  readonly id?: number;
  readonly error?: { readonly message: string };
  readonly result?: JsonObject;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: JsonObject;
}

export class Browser {
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, (answer: Incoming) => void>();
  readonly #pages = new Map<string, (method: string, params: JsonObject) => void>();
  #lastId = 0;

  static async start(program: string): Promise<Browser> {
    const profile = await mkdtemp(join(tmpdir(), "offledger-chromium-"));
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"];
    const args = [...flags, "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"];
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], detached: true });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    try {
      const url = () => /DevTools listening on (ws:\S+)/.exec(stderr)?.[1];
      await until("Chromium listens", () => url() !== undefined || child.exitCode !== null, TIMEOUT_MS);
      const socket = new WebSocket(url() ?? "", { perMessageDeflate: false });
      await within(TIMEOUT_MS, "Chromium accepts commands", once(socket, "open"));
      return new Browser(child, profile, socket);
    } catch (error) {
      await kill(child, profile);
      throw new Error(`Chromium does not start: ${stderr}`, { cause: error });
    }
  }

  private constructor(child: ChildProcess, profile: string, socket: WebSocket) {
    this.#process = child;
    this.#profile = profile;
    this.#socket = socket;
    socket.on("message", (data: Buffer) => this.#receive(JSON.parse(data.toString()) as Incoming));
  }

  async send(method: string, params: JsonObject = {}, sessionId?: string): Promise<JsonObject> {
    const id = ++this.#lastId;
    const answered = new Promise<Incoming>((resolve) => void this.#pending.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { error, result = {} } = await within(TIMEOUT_MS, `${method} is answered`, answered);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** Opens a page and observes it from its first request. */
  async open(url: string): Promise<Page> {
    const { targetId = "" } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    if (typeof sessionId !== "string") throw new Error("Target.attachToTarget gave no session");
    const page = new Page((method, params) => this.send(method, params, sessionId));
    this.#pages.set(sessionId, (method, params) => page.observe(method, params));
    for (const domain of ["Page", "Runtime", "Network", "Log", "Audits"]) {
      await this.send(`${domain}.enable`, {}, sessionId);
    }
    await this.send("Page.navigate", { url }, sessionId);
    return page;
  }

  async close(): Promise<void> {
    this.#socket.terminate();
    await kill(this.#process, this.#profile);
  }

  #receive({ id, sessionId = "", method, params = {}, ...answer }: Incoming): void {
    if (method !== undefined) return this.#pages.get(sessionId)?.(method, params);
    if (id !== undefined) this.#pending.get(id)?.(answer);
    this.#pending.delete(id ?? 0);
  }
}

/** Kills the process group: Chromium and its child processes. */
async function kill(child: ChildProcess, profile: string): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    process.kill(-child.pid, "SIGKILL");
    await within(TIMEOUT_MS, "Chromium has ended", exited);
  }
  await rm(profile, { recursive: true, maxRetries: 20, retryDelay: 50 });
}

/** The fields of the observed events. */
interface EventParams {
  readonly requestId?: string;
  readonly url?: string;
  readonly type?: string;
  readonly request?: { readonly url: string };
  readonly response?: { readonly status: number };
  readonly entry?: { readonly level: string };
  readonly issue?: { readonly code: string };
}

/** A page, and its requests and errors. */
export class Page {
  readonly #send: (method: string, params: JsonObject) => Promise<JsonObject>;
  readonly requested: string[] = [];
  /** Failed requests, error messages, violations of the content security policy. */
  readonly problems: string[] = [];
  readonly #pending = new Set<string | undefined>();

  constructor(send: (method: string, params: JsonObject) => Promise<JsonObject>) {
    this.#send = send;
  }

  /** Sends a command of the protocol for this page. */
  command(method: string, params: JsonObject): Promise<JsonObject> {
    return this.#send(method, params);
  }

  observe(method: string, params: JsonObject): void {
    const { requestId, url, type, request, response, entry, issue } = params as EventParams;
    const report = () => void this.problems.push(`${method} ${JSON.stringify(params)}`);
    switch (method) {
      case "Network.requestWillBeSent":
        this.#pending.add(requestId);
        this.requested.push(request?.url ?? "");
        break;
      case "Network.webSocketCreated":
        this.requested.push(url ?? "");
        break;
      case "Network.responseReceived":
        if ((response?.status ?? 0) >= 400) report();
        break;
      case "Network.loadingFinished":
        this.#pending.delete(requestId);
        break;
      case "Network.loadingFailed":
        this.#pending.delete(requestId);
        report();
        break;
      case "Runtime.consoleAPICalled":
        if (type === "error" || type === "assert") report();
        break;
      case "Log.entryAdded":
        if (entry?.level === "error") report();
        break;
      case "Audits.issueAdded":
        if (issue?.code === "ContentSecurityPolicyIssue") report();
        break;
      case "Runtime.exceptionThrown":
        report();
    }
  }

  async evaluate(expression: string): Promise<unknown> {
    const params = { expression, returnByValue: true, awaitPromise: true };
    const { result, exceptionDetails } = await this.#send("Runtime.evaluate", params);
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as JsonObject)["value"];
  }

  /** Waits until all requests of the page are complete. */
  async settled(): Promise<void> {
    const isLoaded = async () => (await this.evaluate("document.readyState")) === "complete";
    await until("the page has settled", async () => (await isLoaded()) && this.#pending.size === 0, TIMEOUT_MS);
  }

  async shows(selector: string): Promise<void> {
    const isThere = `document.querySelector(${JSON.stringify(selector)}) !== null`;
    await until(`the page shows ${selector}`, async () => (await this.evaluate(isThere)) === true, TIMEOUT_MS);
  }

  /** Waits for an element, removes the focus, and clicks the element. */
  async click(selector: string): Promise<void> {
    await this.shows(selector);
    await this.evaluate(`document.activeElement?.blur(); document.querySelector(${JSON.stringify(selector)}).click()`);
  }

  /** Waits for a field, and replaces its text. */
  async type(selector: string, text: string): Promise<void> {
    await this.shows(selector);
    await this.evaluate(
      `{ const field = document.querySelector(${JSON.stringify(selector)}); field.focus(); field.select(); }`,
    );
    await this.#send("Input.insertText", { text });
  }

  async texts(selector: string): Promise<string[]> {
    const all = `[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => element.textContent)`;
    return (await this.evaluate(all)) as string[];
  }
}
