/**
 * Two replicas on a database behind each proxy, restarted one after the other under load: no request fails; behind nginx also
 * while the password of the database changes, while it gives three connections, and from one release to another and back.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasOpenssl } from "../fixtures/certificates.js";
import { callNamed } from "../fixtures/calls/index.js";
import { main } from "../fixtures/program.js";
import { until } from "../fixtures/wait.js";
import { Pairs } from "../ingest/database/pairs.js";
import { Random } from "../ingest/database/random.js";
import { Role } from "../ingest/database/role.js";
import { command, inBackground, logs, onLedger, WRITES } from "../ingest/database/services.js";
import { startLoad } from "./clients.js";
import { isInstalled, proxies, type Release, Replica, startProxy } from "./proxies.js";

/** Requests of each part. */
const REQUESTS = Number(process.env["OFFLEDGER_TEST_REQUESTS"] ?? 1_000);
/** The program of another release, which runs on the same schema; this one with another content by default. */
const OTHER = process.env["OFFLEDGER_TEST_OTHER_RELEASE"] ?? main;

describe.each(Object.entries(proxies))("%s", (name, proxy) => {
  const isSkipped = !hasOpenssl || !isInstalled(proxy);
  if (isSkipped) console.warn(`skipped: ${proxy.binary} or openssl is not installed`);

  test.skipIf(isSkipped)(
    "loses no request while replicas restart one after the other",
    async () => {
      const pairs = new Pairs(10);
      const { settings } = await onLedger(pairs);
      const { databaseUrl } = settings;
      const roles = [await Role.create(databaseUrl, "one"), await Role.create(databaseUrl, "two")];
      await logs(command("mirror", settings), WRITES);
      const releaseOf = (role: Role, isOther = false): Release => ({
        command: "api",
        ...(isOther && { file: OTHER }),
        env: {
          OFFLEDGER_TOTAL_SUPPLY: String(!isOther),
          // The first commits that share a database read the file for some connections only.
          ...(isOther
            ? { OFFLEDGER_DATABASE_URL: role.login }
            : { OFFLEDGER_DATABASE_URL: role.url, OFFLEDGER_DATABASE_PASSWORD_FILE: role.passwordFile }),
        },
      });
      const replicas = await Promise.all(
        roles.map(async (role) => ({ role, replica: await Replica.start(releaseOf(role)) })),
      );
      for (const { replica } of replicas) await replica.isReady();
      // All requests are of one client.
      const unlimited = proxy.rate[0].replaceAll("200", "20000");
      const running = await startProxy(
        proxy,
        replicas.map(({ replica }) => replica),
        [[proxy.rate[0], unlimited]],
      );
      const changing = inBackground((signal) => pairs.keepChanging(new Random(7), 20, signal));
      const load = startLoad(running, callNamed("all instrument configurations"), 2);

      const restart = async (isOther = false): Promise<void> => {
        for (const { replica, role } of replicas) {
          await replica.restart("SIGTERM", releaseOf(role, isOther));
          await replica.isReady();
          await until("the new process serves", () => replica.requests().some(({ protocol }) => protocol === "grpc"));
        }
      };
      const rotate = async (): Promise<void> => {
        for (let rotations = 0; rotations < 3; rotations++) {
          for (const role of roles) await role.rotate();
          await pause(1_000);
          for (const role of roles) await role.terminate();
          await pause(1_000);
        }
      };
      const parts: Readonly<Record<string, () => Promise<unknown>>> = {
        "a restart": () => restart(),
        "a password that changes": () => Promise.all([restart(), rotate()]),
        "three connections of each replica": async () => {
          for (const role of roles) await role.limitConnections(3);
          await restart();
          await load.goesOn(REQUESTS / 2);
          for (const role of roles) await role.limitConnections(-1);
        },
        "another release": async () => {
          command("mirror", { ...settings, more: { TOTAL_SUPPLY: "false" } }, OTHER);
          await restart(true);
        },
        "the way back": async () => {
          await nextSchema(databaseUrl);
          await restart();
        },
      };
      // The others are of the service, whatever the proxy.
      const ofProxy = Object.entries(parts).slice(0, name === "nginx" ? undefined : 1);
      for (const [what, run] of ofProxy) {
        const [served, streams, failed] = [load.count(), load.streams(), load.failures.length];
        await run();
        await load.goesOn(Math.ceil(Math.max(REQUESTS - (load.count() - served), 2) / 2));
        const resumed = load.streams() - streams;
        console.log(`${name}, ${what}: ${load.count() - served} requests, ${resumed} streams resumed`);
        const failures = load.failures.slice(failed);
        expect({ what, failures }, failures.length > 0 ? running.log() : "").toEqual({ what, failures: [] });
        // Each was on a replica that has ended.
        expect(resumed).toBeGreaterThan(0);
      }
      await load.end();
      await changing.end();
    },
    300_000 + REQUESTS * 50,
  );
});

/** The schema of the next release, as far as this one sees it. */
async function nextSchema(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("INSERT INTO offledger.migrations (version) SELECT max(version) + 1 FROM offledger.migrations");
}
