/** Start, stop and restart. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { MAX_WAIT_MS, until, within } from "../fixtures/wait.js";
import { ask, creation, Listener, snapshotRequest, updatesRequest } from "./test-client.js";
import { Participant } from "./participant.js";

test("it restarts on its port with its ledger", async () => {
  const first = await Participant.start();
  const { port, ledger } = first;
  ledger.transact([{ create: creation("a") }]);
  const listener = new Listener(first.url, "/v2/updates", updatesRequest(0));
  await listener.receive(1);
  await first.stop();
  expect((await listener.ended).code).toBe(1006);
  await expect(ask(`${first.url}/v2/version`)).rejects.toThrow("fetch failed");
  ledger.transact([{ create: creation("b") }]);
  const second = await Participant.start({ port, ledger });
  expect(second.url).toBe(first.url);
  const again = new Listener(second.url, "/v2/updates", updatesRequest(1, 4));
  await again.ended;
  expect(again.texts).toHaveLength(1);
  await second.close();
});

test("it closes streams gracefully, and close and stop are idempotent", async () => {
  const participant = await Participant.start();
  const listener = new Listener(participant.url, "/v2/updates", updatesRequest(0));
  await until("the stream is open", () => participant.streams === 1);
  await participant.close();
  expect((await listener.ended).code).toBe(1001);
  await participant.close();
  await participant.stop();
});

test("it stops at once, whatever is in progress", async () => {
  const participant = await Participant.start();
  for (let count = 0; count < 50; count++) participant.ledger.transact([{ create: creation(`c${count}`) }]);
  participant.faults.slowLedgerEnd(60_000);
  participant.faults.delay(60_000, { times: 2 });
  const answer = ask(`${participant.url}/v2/state/ledger-end`);
  const listeners = [
    new Listener(participant.url, "/v2/updates", updatesRequest(0)),
    new Listener(participant.url, "/v2/state/active-contracts", snapshotRequest(50)),
  ];
  await until("all are under way", () => participant.requests.filter(({ body }) => body !== undefined).length === 2);
  const begin = performance.now();
  await participant.stop();
  expect(performance.now() - begin).toBeLessThan(5000);
  await expect(answer).rejects.toThrow("fetch failed");
  for (const { ended } of listeners) expect((await ended).code).toBe(1006);
});

test("a port in use is an error", async () => {
  const { port, close } = await taken();
  await expect(Participant.start({ port })).rejects.toThrow("EADDRINUSE");
  await close();
});

test("a large snapshot is streamed to a slow reader with bounded memory", async () => {
  const participant = await Participant.start();
  const creations = Array.from({ length: 20_000 }, (_, index) => ({ create: creation(`c${index}`) }));
  participant.ledger.transact(creations);
  const listener = new Listener(participant.url, "/v2/state/active-contracts", snapshotRequest(1));
  expect((await listener.ended).code).toBe(1000);
  expect(new Set(listener.texts).size).toBe(20_000);
  await participant.close();
});

const hasOpenssl = (() => {
  try {
    execFileSync("openssl", ["version"]);
    return true;
  } catch {
    return false;
  }
})();

test.skipIf(!hasOpenssl)("it serves TLS (skipped where there is no openssl)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "offledger-tls-"));
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(folder, name));
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync("openssl", ["req", "-x509", ...curve, "-keyout", key ?? "", "-out", cert ?? "", ...subject], {
    stdio: "ignore",
  });
  const tls = { key: readFileSync(key ?? "", "utf8"), cert: readFileSync(cert ?? "", "utf8") };
  rmSync(folder, { recursive: true });
  const participant = await Participant.start({ tls });
  expect(participant.url).toMatch(/^https:/);
  const body = new Promise<string>((resolve, reject) => {
    get(`${participant.url}/v2/state/ledger-end`, { ca: tls.cert }, (response) => resolve(text(response))).on(
      "error",
      reject,
    );
  });
  expect(await within(MAX_WAIT_MS, "an answer", body)).toBe('{"offset":0}');
  await participant.close();
});

async function taken(): Promise<{ port: number; close: () => Promise<void> }> {
  const participant = await Participant.start();
  return { port: participant.port, close: () => participant.close() };
}
