/** Runs the configurations of deploy/proxy in front of replicas of the built service. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { createCertificates } from "../fixtures/certificates.js";
import { freePort } from "../fixtures/free-port.js";
import { main, Program } from "../fixtures/program.js";
import { until } from "../fixtures/wait.js";

const isRoot = process.getuid?.() === 0;
const NGINX_TEMP = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

type Replacement = readonly [from: string, to: string];

interface Proxy {
  readonly binary: string;
  readonly file: string;
  readonly args: (folder: string) => readonly string[];
  /** Of one client, before they send a request. */
  readonly limitsConnections: boolean;
  /** What is replaced besides the addresses of the replicas: port, paths and user. Each has to occur. */
  readonly replaced: (port: number, folder: string) => readonly Replacement[];
  /** The rate of one client, and a low one. */
  readonly rate: Replacement;
}

export const proxies: Readonly<Record<string, Proxy>> = {
  nginx: {
    binary: "nginx",
    file: "deploy/proxy/nginx.conf",
    args: (folder) => ["-c", join(folder, "proxy"), "-p", folder, "-g", `daemon off; pid ${folder}/pid;`],
    limitsConnections: false,
    rate: ["rate=200r/s;\n    limit_req zone=rate burst=200", "rate=5r/s;\n    limit_req zone=rate burst=5"],
    replaced: (port, folder) => [
      ["listen 443 ", `listen 127.0.0.1:${port} `],
      ["/etc/nginx/offledger.crt", join(folder, "cert.pem")],
      ["/etc/nginx/offledger.key", join(folder, "key.pem")],
      // Workers of another user could not enter the folder.
      ["user www-data;", isRoot ? "user root;" : ""],
      [
        "http {",
        `http { access_log off; ${NGINX_TEMP.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}`,
      ],
    ],
  },
  HAProxy: {
    binary: "haproxy",
    file: "deploy/proxy/haproxy.cfg",
    args: (folder) => ["-db", "-f", join(folder, "proxy")],
    limitsConnections: true,
    rate: ["sc_http_req_rate(1) gt 200", "sc_http_req_rate(1) gt 5"],
    replaced: (port, folder) => [
      ["bind :443 ", `bind 127.0.0.1:${port} `],
      ["/etc/haproxy/offledger.pem", join(folder, "both.pem")],
      ...(isRoot ? [] : ([["user haproxy\n    group haproxy\n", ""]] as const)),
    ],
  },
};

export const isInstalled = ({ binary }: Proxy): boolean => spawnSync(binary, ["-v"]).status === 0;

/** A line of the log of requests. */
interface Line {
  readonly msg: string;
  readonly client?: string;
  readonly protocol?: string;
}

/** What a replica runs: the file of a release, its command, and variables. */
export interface Release {
  readonly file?: string;
  readonly command?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A process of the service that keeps its port when it starts again. */
export class Replica {
  port = 0;
  #release: Release;
  #program: Program | undefined;
  #metricsUrl = "";

  private constructor(release: Release) {
    this.#release = release;
  }

  static async start(release: Release = {}): Promise<Replica> {
    const replica = new Replica(release);
    await replica.#start();
    return replica;
  }

  async #start(): Promise<void> {
    const { file = main, command = "serve" } = this.#release;
    const env = {
      OFFLEDGER_PORT: String(this.port),
      OFFLEDGER_METRICS_PORT: "0",
      OFFLEDGER_LOG_REQUESTS: "all",
      OFFLEDGER_TRUSTED_PROXIES: "127.0.0.1",
      OFFLEDGER_DRAIN_SECONDS: "5",
      ...this.#release.env,
    };
    const program = new Program(process.execPath, [file, command], { cwd: tmpdir(), env });
    this.#program = program;
    const { port } = new URL(await program.listens());
    this.port = Number(port);
    await until("the operator's port is logged", () => this.hasLogged("metrics listening"));
    this.#metricsUrl = /"url":"([^"]+)","msg":"metrics listening"/.exec(program.err)?.[1] ?? "";
  }

  /** Another release may take its place. */
  async restart(signal: "SIGTERM" | "SIGKILL", release = this.#release): Promise<void> {
    this.#program?.signal(signal);
    await this.#program?.ended();
    this.#release = release;
    await this.#start();
  }

  async isReady(): Promise<void> {
    const ready = async () => (await fetch(`http://127.0.0.1:${this.port}/readyz`)).status === 200;
    await until("the replica is ready", ready).catch((error: unknown) => {
      const lines = this.#program?.err.split("\n").filter((line) => !line.includes('"msg":"request"'));
      throw new Error(lines?.join("\n"), { cause: error });
    });
  }

  /** Whether the present process has logged some words. */
  hasLogged(words: string): boolean {
    return this.#program?.err.includes(words) ?? false;
  }

  /** The requests that the present process has served. */
  requests(): Line[] {
    const lines = this.#program?.err.split("\n").slice(0, -1) ?? [];
    return lines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === "request");
  }

  /** Bytes of request bodies that are being received. */
  async bodyBytes(): Promise<number> {
    const metrics = await (await fetch(this.#metricsUrl)).text();
    return Number(/^offledger_budget_used\{budget="body_bytes"\} (\d+)$/m.exec(metrics)?.[1]);
  }
}

export interface RunningProxy {
  readonly port: number;
  readonly url: string;
  readonly ca: string;
  /** What the proxy has logged. */
  readonly log: () => string;
}

/** Starts a proxy in front of two replicas, and waits until it serves. */
export async function startProxy(
  proxy: Proxy,
  replicas: readonly Replica[],
  more: readonly Replacement[] = [],
): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), "offledger-proxy-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { ca, cert, key } = createCertificates();
  const port = await freePort();
  const addresses = replicas.map((replica, index) => [`10.0.0.1${index + 1}:8080`, `127.0.0.1:${replica.port}`]);
  let configuration = await readFile(proxy.file, "utf8");
  for (const [from = "", to = ""] of [...addresses, ...proxy.replaced(port, folder), ...more]) {
    if (!configuration.includes(from)) throw new Error(`${proxy.file} has no ${from}`);
    configuration = configuration.replaceAll(from, to);
  }
  const files = { "cert.pem": cert, "key.pem": key, "both.pem": cert + key, proxy: configuration };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o600 });
  const program = new Program(proxy.binary, proxy.args(folder), { cwd: folder });
  // Killed, nginx would leave its workers behind.
  onTestFinished(async () => {
    program.stop();
    await program.ended();
  });
  const running = { port, url: `https://127.0.0.1:${port}`, ca, log: () => program.err };
  const serves = async () => (await ask(running, "/livez").catch(() => undefined))?.status === 200;
  await until(`${proxy.binary} serves`, serves).catch((error: unknown) => {
    throw new Error(program.err, { cause: error });
  });
  return running;
}

export interface Asked {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address of the client. */
  readonly from?: string;
}

/** Sends a request over HTTP/1.1, on a connection that is kept. */
export async function ask({ port, ca }: RunningProxy, path: string, { body, headers = {}, from }: Asked = {}) {
  const request = https.request({
    host: "127.0.0.1",
    port,
    ca,
    path,
    headers,
    timeout: 20_000,
    method: body === undefined ? "GET" : "POST",
    ...(from !== undefined && { localAddress: from }),
  });
  request.once("timeout", () => request.destroy(new Error("no response")));
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}
