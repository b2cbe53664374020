/** /readyz and the log name what keeps the mirror from the ledger, or from a part of it, in words that an operator acts on. */
import { createServer } from "node:net";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import type { TokenSource } from "../../../src/ledger/participant/tokens.js";
import { templates } from "../../../src/registry/utility/templates.js";
import { until } from "../../fixtures/wait.js";
import { KnownFilters } from "../../../src/ledger/participant/client.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { Tokens } from "../../scripted-participant/tokens.js";
import { operator, type RunningMirror, startMirror } from "./run-mirror.js";
import { offer } from "../../simulation/script.js";

async function participantWith(options: Parameters<typeof Participant.start>[0] = {}): Promise<Participant> {
  const participant = await Participant.start({ checkpointMs: 20, ...options });
  onTestFinished(() => participant.stop());
  return participant;
}

function mirrorOf(url: string, token?: TokenSource): RunningMirror {
  const running = startMirror(url, [operator], token);
  onTestFinished(() => running.stop());
  return running;
}

/** The port of a server that speaks HTTP/2 only, such as that of the gRPC API. */
async function http2Port(): Promise<number> {
  // The SETTINGS frame of a server, which is its first.
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

// What /readyz says once it says more than at the start is in the log, too.
const isIncident = (line: string): boolean => line.startsWith("error ") && line.includes('"hint"');

test.each<[string, () => Promise<readonly [url: string, token?: TokenSource]>, RegExp]>([
  [
    "packages that are missing, by name",
    async () => [(await participantWith({ packageNames: [] })).url],
    /the participant has none of the registry's packages \(it lacks utility-registry-app-v0, .*utility-credential-v0/,
  ],
  [
    "a token that is not accepted",
    async () => [(await participantWith({ tokens: new Tokens() })).url],
    /does not accept the credentials \(.*401/,
  ],
  [
    "a right that is missing",
    async () => {
      const tokens = new Tokens();
      const token = tokens.issue({ parties: ["somebody::1220"] });
      return [(await participantWith({ tokens })).url, () => Promise.resolve(token)];
    },
    /may not read as the configured parties \(/,
  ],
  [
    "a path that is not the JSON Ledger API's, with its URL",
    async () => [`${(await participantWith()).url}/nowhere`],
    /there is no JSON Ledger API at http:\/\/127\.0\.0\.1:\d+\/nowhere\/v2\/state\/ledger-end \(/,
  ],
  [
    "a port of the gRPC API",
    async () => [`http://127.0.0.1:${await http2Port()}`],
    /the participant's gRPC port, not that of its JSON Ledger API/,
  ],
])("%s", async (_what, prepare, reason) => {
  const { mirror, logged } = mirrorOf(...(await prepare()));
  await until("an incident is logged", () => logged.some(isIncident));
  expect(mirror.notReadyReason()).toMatch(reason);
});

const CREDENTIALS = "utility-credential-v0";

const all = [...new Set(new KnownFilters(templates).present.map(({ packageName }) => packageName))];

/** A mirror of an offer, on a participant with these packages. */
async function following(packageNames: readonly string[]) {
  const ledger = new ScriptedLedger();
  ledger.transact([{ create: offer("offer") }]);
  const participant = await participantWith({ ledger, packageNames });
  const running = mirrorOf(participant.url);
  const held = async () => [...(await running.held()).keys()].toSorted();
  const isReady = () => running.lag.notReadyReason() === undefined;
  const holds = (id: string) => until(`${id} is there`, async () => (await held()).includes(id));
  return { ...running, ledger, participant, held, isReady, holds };
}

describe("a participant that lacks packages", () => {
  test("is followed without them, and the log names them", async () => {
    const { ledger, isReady, held, holds, logged, store } = await following(
      all.filter((name) => name !== CREDENTIALS && !name.startsWith("splice")),
    );
    await until("it is ready", isReady);
    expect(await held()).toEqual(["offer"]);
    // The participant names them one after the other.
    const warnings = logged.filter((line) => line.startsWith("warn the participant lacks"));
    expect(warnings).toHaveLength(1);
    for (const name of [CREDENTIALS, "splice-amulet"]) expect(warnings[0]).toContain(name);
    ledger.transact([{ create: offer("offer-2") }]);
    await holds("offer-2");
    // Another process goes on with it only while the participant lacks the same.
    expect(store.checkpoint?.updateId).toBeDefined();
  });

  test("and has none of them is asked again until it has", async () => {
    const { participant, isReady, holds, logged, lag } = await following([]);
    await until("the failure is logged", () => logged.some((line) => line.includes("PACKAGE_NAMES_NOT_FOUND")));
    expect(lag.notReadyReason()).toBe("no snapshot of the ledger has been taken yet");
    const asked = participant.requests.length;
    await until("it is asked again", () => participant.requests.length > asked + 5 * all.length);
    for (const name of all) participant.upload(name);
    await until("it is ready", isReady);
    await holds("offer");
  });
});
