/** deploy/proxy: nginx and HAProxy, as Debian packages them, in front of two replicas. */
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fromJson, toBinary, toJsonString } from "@bufbuild/protobuf";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasOpenssl } from "../fixtures/certificates.js";
import { callNamed } from "../fixtures/calls/index.js";
import { requestHttp2 } from "../fixtures/http-requests.js";
import { MAX_WAIT_MS, until, within } from "../fixtures/wait.js";
import { CALLERS, connectHttp2, grpcCaller, JSON_TYPE, startLoad, transports, WATCH } from "./clients.js";
import { ask, type Asked, isInstalled, proxies, Replica, startProxy } from "./proxies.js";

const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** A ServerReflectionRequest with an empty `list_services`. */
const LIST_SERVICES = Buffer.from("3a00", "hex");
const GRPC_TYPE = { "content-type": "application/grpc", te: "trailers" };
/** A POST with a body, on REST; and its response on every protocol. */
const call = callNamed("instrument configuration");
const { method, path, body, request } = call;
const rpcPath = `/${method.parent.typeName}/${method.name}`;
const post: Asked = { body: JSON.stringify(body), headers: JSON_TYPE };
const message = toBinary(method.input, fromJson(method.input, request));

/** A message of gRPC, or the beginning of one. */
function framed(bytes: Uint8Array, length = bytes.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, bytes]);
}

/** Sends some bytes of a body now and then, and no end. Resolves when the stream is closed. */
async function drip(session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders): Promise<void> {
  const stream = session.request({ ":method": "POST", ...headers });
  const closed = new Promise((resolve) => void stream.on("error", () => {}).once("close", resolve));
  stream.resume();
  // A whole message of gRPC would have arrived.
  stream.write(framed(message, 1_000));
  for (let sent = 0; sent < 10 && stream.writable; sent++) {
    stream.write("x");
    await pause(200);
  }
  await closed;
}

describe.each(Object.entries(proxies))("%s", (_name, proxy) => {
  const isSkipped = !hasOpenssl || !isInstalled(proxy);
  if (isSkipped) console.warn(`skipped: ${proxy.binary} or openssl is not installed`);
  const serve = async (env = {}) => {
    const replicas = await Promise.all([Replica.start(), Replica.start({ env })] as const);
    return { ...(await startProxy(proxy, replicas)), replicas };
  };

  test.skipIf(isSkipped)("serves every protocol, from both replicas", async () => {
    const running = await serve();
    const callGrpc = grpcCaller(running, call);
    for (let round = 0; round < 2; round++) {
      expect(await ask(running, path, post)).toMatchObject({ status: 200, body: expect.stringContaining("ACME-BOND") });
      expect(await callGrpc()).toContain("ACME-BOND");
      for (const transport of Object.values(transports(running))) {
        const input = fromJson(method.input, request);
        const { message: output } = await transport.unary(method, undefined, 20_000, undefined, input);
        expect(toJsonString(method.output, output)).toContain("ACME-BOND");
      }
    }
    for (const replica of running.replicas) {
      const used = new Set(replica.requests().map(({ protocol }) => protocol));
      expect([...used]).toEqual(expect.arrayContaining(["grpc", "rest"]));
    }
    // What the service permits is up to it: its responses have an id.
    const large = JSON.stringify({ registrar: "x".repeat(1_000_000) });
    const session = connectHttp2(running);
    const expected = { headers: { "x-request-id": expect.any(String) }, body: expect.stringContaining("registrar") };
    expect(await ask(running, path, { body: large, headers: JSON_TYPE })).toMatchObject(expected);
    expect(await requestHttp2(session, rpcPath, JSON_TYPE, large)).toMatchObject(expected);
    const long = await ask(running, `${WATCH}?tags=${"x".repeat(10_000)}`);
    expect(long).toMatchObject({ status: 400, headers: { "x-request-id": expect.any(String) } });
    // Reflection answers before the request has ended.
    const reflection = session.request({ ":method": "POST", ":path": REFLECTION, ...GRPC_TYPE });
    reflection.write(framed(LIST_SERVICES));
    const [chunk] = (await within(20_000, "reflection answers", once(reflection, "data"))) as [Buffer];
    expect(chunk.toString("latin1")).toContain("offledger.watch.v1.WatchService");
  });

  test.skipIf(isSkipped)("passes on the address of the client, and not what the client says", async () => {
    const running = await serve();
    const forged = { "x-forwarded-for": "198.51.100.7" };
    await ask(running, path, { ...post, headers: { ...JSON_TYPE, ...forged }, from: "127.0.0.2" });
    const session = connectHttp2(running, "127.0.0.3");
    await requestHttp2(session, rpcPath, { ...GRPC_TYPE, ...forged }, framed(message));
    const lines = () =>
      running.replicas.flatMap((one) => one.requests()).filter(({ client }) => client !== "127.0.0.1");
    await until("both requests are logged", () => lines().length === 2);
    const seen = lines().map(({ protocol, client }) => `${protocol} ${client}`);
    expect(seen.toSorted()).toEqual(["grpc 127.0.0.3", "rest 127.0.0.2"]);
  });

  test.skipIf(isSkipped)("loses at most what a replica was answering when it is killed", async () => {
    const running = await serve();
    const [killed] = running.replicas;
    const load = startLoad(running, call);
    await load.goesOn(100);
    await killed.restart("SIGKILL");
    await until("the new process serves", () => killed.requests().some(({ protocol }) => protocol === "grpc"));
    await load.goesOn(100);
    await load.end();
    // The response that it was sending to each caller.
    expect(load.failures.length).toBeLessThanOrEqual(CALLERS);
  });

  test.skipIf(isSkipped)("asks another replica as long as one is not ready", async () => {
    const running = await serve({ OFFLEDGER_LEDGER_URL: "http://127.0.0.1:1", OFFLEDGER_LEDGER_PARTIES: "a::1220" });
    const askOften = async () => {
      const statuses = [];
      for (let sent = 0; sent < 20; sent++) statuses.push((await ask(running, path, post)).status);
      return statuses;
    };
    await expect.poll(askOften, { timeout: MAX_WAIT_MS }).toEqual(Array.from({ length: 20 }, () => 200));
  });

  test.skipIf(isSkipped)("keeps slow bodies from the service, and ends them", async () => {
    const running = await serve();
    const received = async () => Math.max(...(await Promise.all(running.replicas.map((one) => one.bodyBytes()))));
    const rest = { ":path": path, ...JSON_TYPE };
    const direct = http2.connect(`http://127.0.0.1:${running.replicas[0].port}`);
    const without = drip(direct, rest);
    await until("a slow body reaches a service without a proxy", async () => (await received()) > 0);
    direct.destroy();
    await without;
    await until("its bytes are released", async () => (await received()) === 0);
    const session = connectHttp2(running);
    const requests = [rest, { ":path": rpcPath, ...JSON_TYPE }, { ":path": rpcPath, ...GRPC_TYPE }];
    const state = { hasEnded: false, most: 0 };
    const drips = requests.map((one) => drip(session, one));
    const ended = within(MAX_WAIT_MS, "the proxy ends them", Promise.all(drips)).finally(() => (state.hasEnded = true));
    while (!state.hasEnded) {
      state.most = Math.max(state.most, await received());
      await pause(50);
    }
    await ended;
    expect(state.most).toBe(0);
  });

  test.skipIf(isSkipped)("limits what one client has under way, and how often it asks", async () => {
    const running = await serve();
    const other = () => ask(running, path, { ...post, from: "127.0.0.5" });
    // One connection of HTTP/2 has fewer.
    const sessions = [connectHttp2(running, "127.0.0.4"), connectHttp2(running, "127.0.0.4")];
    const statuses: unknown[] = [];
    for (let count = 0; count < 102; count++) {
      const stream = sessions[count % 2]?.request({ ":path": WATCH }).on("error", () => {});
      stream?.once("response", (head) => statuses.push(head[":status"])).resume();
    }
    await until("all streams are answered", () => statuses.length === 102);
    expect(statuses.filter((status) => status !== 200)).toEqual([429, 429]);
    expect(await other()).toMatchObject({ status: 200 });

    // A rate that is exceeded on a slow machine too.
    const slow = await startProxy(proxy, running.replicas, [proxy.rate]);
    const fast = connectHttp2(slow, "127.0.0.6");
    const burst = Array.from({ length: 50 }, () => requestHttp2(fast, "/livez", { ":method": "GET" }));
    expect((await Promise.all(burst)).map(({ status }) => status)).toContain(429);
    expect(await ask(slow, path, { ...post, from: "127.0.0.5" })).toMatchObject({ status: 200 });

    if (!proxy.limitsConnections) return;
    let closed = 0;
    for (let count = 0; count < 102; count++) {
      const socket = net.connect({ host: "127.0.0.1", port: running.port, localAddress: "127.0.0.7" });
      onTestFinished(() => void socket.destroy());
      socket.on("error", () => {}).once("close", () => closed++);
    }
    await until("connections are closed", () => closed === 2);
    expect(await other()).toMatchObject({ status: 200 });
  });
});
