/** /readyz names what keeps the mirror from the ledger, in words that an operator acts on. */
import { createServer } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { Participant } from "../../scripted-participant/participant.js";
import { Tokens } from "../../scripted-participant/tokens.js";
import type { TokenSource } from "../../../src/ledger/participant/tokens.js";
import { until } from "../../fixtures/wait.js";
import { operator, startMirror } from "./run-mirror.js";

async function participantWith(options: Parameters<typeof Participant.start>[0] = {}): Promise<Participant> {
  const participant = await Participant.start(options);
  onTestFinished(() => participant.stop());
  return participant;
}

/** What /readyz says once it says more than at the start, which the log has too. */
async function reasonOn(url: string, token?: TokenSource): Promise<string | undefined> {
  const running = startMirror(url, [operator], undefined, undefined, token);
  onTestFinished(() => running.stop());
  const { mirror, logged } = running;
  await until("an incident is logged", () =>
    logged.some((line) => line.startsWith("error ") && line.includes('"hint"')),
  );
  return mirror.notReadyReason();
}

test("packages that are missing, by name", async () => {
  const { url } = await participantWith({ packageNames: [] });
  expect(await reasonOn(url)).toMatch(
    /the participant has none of the registry's packages \(it lacks utility-registry-app-v0, .*utility-credential-v0/,
  );
});

test("a token that is not accepted", async () => {
  const { url } = await participantWith({ tokens: new Tokens() });
  expect(await reasonOn(url)).toMatch(/does not accept the credentials \(.*401/);
});

test("a right that is missing, apart from a token that is not accepted", async () => {
  const tokens = new Tokens();
  const { url } = await participantWith({ tokens });
  const token = tokens.issue({ parties: ["somebody::1220"] });
  expect(await reasonOn(url, () => Promise.resolve(token))).toMatch(/may not read as the configured parties \(/);
});

test("a path that is not the JSON Ledger API's, with its URL", async () => {
  const { url } = await participantWith();
  expect(await reasonOn(`${url}/nowhere`)).toContain(
    `there is no JSON Ledger API at ${url}/nowhere/v2/state/ledger-end (`,
  );
});

test("a port that speaks HTTP/2 only, such as that of the gRPC API", async () => {
  // The SETTINGS frame of a server, which is its first.
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  expect(await reasonOn(`http://127.0.0.1:${port}`)).toMatch(
    /the participant's gRPC port, not that of its JSON Ledger API/,
  );
});
