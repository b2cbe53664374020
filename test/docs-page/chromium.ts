/** A headless Chromium, driven by the Chrome DevTools Protocol: as much of both as the tests of the page need. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { WebSocket } from "ws";
import type { JsonObject } from "../../src/domain/json.js";
import { until, within } from "../fixtures/wait.js";

/** Longest that the browser may take for anything, in milliseconds. */
const BOUND_MS = 20_000;

/** The program; undefined where it is not installed. */
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

/** What came over the WebSocket: the answer to a command, or an event. */
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
  readonly #waiting = new Map<number, (answer: Incoming) => void>();
  readonly #pages = new Map<string, (method: string, params: JsonObject) => void>();
  #lastId = 0;

  static async start(program: string): Promise<Browser> {
    const profile = await mkdtemp(join(tmpdir(), "offledger-chromium-"));
    const alone = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"];
    const args = [...alone, "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"];
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], detached: true });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    try {
      const url = () => /DevTools listening on (ws:\S+)/.exec(said)?.[1];
      await until("Chromium listens", () => url() !== undefined || child.exitCode !== null, BOUND_MS);
      const socket = new WebSocket(url() ?? "", { perMessageDeflate: false });
      await within(BOUND_MS, "Chromium takes commands", once(socket, "open"));
      return new Browser(child, profile, socket);
    } catch (error) {
      await end(child, profile);
      throw new Error(`Chromium does not start: ${said}`, { cause: error });
    }
  }

  private constructor(child: ChildProcess, profile: string, socket: WebSocket) {
    this.#process = child;
    this.#profile = profile;
    this.#socket = socket;
    socket.on("message", (data: Buffer) => this.#take(JSON.parse(data.toString()) as Incoming));
  }

  async send(method: string, params: JsonObject = {}, sessionId?: string): Promise<JsonObject> {
    const id = ++this.#lastId;
    const answered = new Promise<Incoming>((resolve) => void this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { error, result = {} } = await within(BOUND_MS, `${method} is answered`, answered);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** Opens a page, which is watched from before its first request on. */
  async open(url: string): Promise<Page> {
    const { targetId = "" } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    if (typeof sessionId !== "string") throw new Error("Target.attachToTarget gave no session");
    const page = new Page((method, params) => this.send(method, params, sessionId));
    this.#pages.set(sessionId, (method, params) => page.watch(method, params));
    for (const domain of ["Page", "Runtime", "Network", "Log", "Audits"]) {
      await this.send(`${domain}.enable`, {}, sessionId);
    }
    await this.send("Page.navigate", { url }, sessionId);
    return page;
  }

  async close(): Promise<void> {
    this.#socket.terminate();
    await end(this.#process, this.#profile);
  }

  #take({ id, sessionId = "", method, params = {}, ...answer }: Incoming): void {
    if (method !== undefined) return this.#pages.get(sessionId)?.(method, params);
    if (id !== undefined) this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id ?? 0);
  }
}

/** Ends the group of processes that this one began: Chromium and its helpers. */
async function end(child: ChildProcess, profile: string): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    process.kill(-child.pid, "SIGKILL");
    await within(BOUND_MS, "Chromium has ended", exited);
  }
  await rm(profile, { recursive: true, maxRetries: 20, retryDelay: 50 });
}

/** Of the events that are looked at, what is looked at. */
interface Told {
  readonly requestId?: string;
  readonly url?: string;
  readonly type?: string;
  readonly request?: { readonly url: string };
  readonly response?: { readonly status: number };
  readonly entry?: { readonly level: string };
  readonly issue?: { readonly code: string };
}

/** One page, and what was seen of it since it was opened. */
export class Page {
  readonly #send: (method: string, params: JsonObject) => Promise<JsonObject>;
  /** Every URL that was asked for. */
  readonly requested: string[] = [];
  /** Requests without an answer or with one that is an error, messages of errors, breaches of the policy. */
  readonly complaints: string[] = [];
  readonly #underWay = new Set<string | undefined>();

  constructor(send: (method: string, params: JsonObject) => Promise<JsonObject>) {
    this.#send = send;
  }

  /** Takes an event of the page's. */
  watch(method: string, params: JsonObject): void {
    const { requestId, url, type, request, response, entry, issue } = params as Told;
    const complain = () => void this.complaints.push(`${method} ${JSON.stringify(params)}`);
    switch (method) {
      case "Network.requestWillBeSent":
        this.#underWay.add(requestId);
        this.requested.push(request?.url ?? "");
        break;
      case "Network.webSocketCreated":
        this.requested.push(url ?? "");
        break;
      case "Network.responseReceived":
        if ((response?.status ?? 0) >= 400) complain();
        break;
      case "Network.loadingFinished":
        this.#underWay.delete(requestId);
        break;
      case "Network.loadingFailed":
        this.#underWay.delete(requestId);
        complain();
        break;
      case "Runtime.consoleAPICalled":
        if (type === "error" || type === "assert") complain();
        break;
      case "Log.entryAdded":
        if (entry?.level === "error") complain();
        break;
      case "Audits.issueAdded":
        if (issue?.code === "ContentSecurityPolicyIssue") complain();
        break;
      case "Runtime.exceptionThrown":
        complain();
    }
  }

  /** The value of an expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const asked = { expression, returnByValue: true, awaitPromise: true };
    const { result, exceptionDetails } = await this.#send("Runtime.evaluate", asked);
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as JsonObject)["value"];
  }

  /** Waits until the page has all that it asked for. */
  async settled(): Promise<void> {
    const isLoaded = async () => (await this.evaluate("document.readyState")) === "complete";
    await until("the page has settled", async () => (await isLoaded()) && this.#underWay.size === 0, BOUND_MS);
  }

  /** Waits for an element. */
  async shows(selector: string): Promise<void> {
    const isThere = `document.querySelector(${JSON.stringify(selector)}) !== null`;
    await until(`the page shows ${selector}`, async () => (await this.evaluate(isThere)) === true, BOUND_MS);
  }

  /** Waits for an element, and clicks it, which takes the focus from where it was. */
  async click(selector: string): Promise<void> {
    await this.shows(selector);
    await this.evaluate(`document.activeElement?.blur(); document.querySelector(${JSON.stringify(selector)}).click()`);
  }

  /** Waits for a field, and types in place of what stands in it. */
  async type(selector: string, text: string): Promise<void> {
    await this.shows(selector);
    await this.evaluate(
      `{ const field = document.querySelector(${JSON.stringify(selector)}); field.focus(); field.select(); }`,
    );
    await this.#send("Input.insertText", { text });
  }

  /** The text of every element that fits. */
  async texts(selector: string): Promise<string[]> {
    const all = `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.textContent)`;
    return (await this.evaluate(all)) as string[];
  }
}
