/** The program on a participant: start and stop. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { until } from "../../fixtures/wait.js";
import { Participant } from "../../scripted-participant/participant.js";

test.each(["SIGTERM", "SIGINT"] as const)("%s closes the streams, and the program ends with 0", async (signal) => {
  const participant = await Participant.start();
  const child = spawn(process.execPath, ["dist/src/main.js", "serve"], {
    env: {
      ...process.env,
      OFFLEDGER_PORT: "0",
      OFFLEDGER_LEDGER_URL: participant.url,
      OFFLEDGER_LEDGER_PARTIES: "operator::1220",
      OFFLEDGER_DRAIN_SECONDS: "0",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  try {
    const said = text(child.stdout);
    const ended = once(child, "exit");
    const hasSnapshot = () => participant.requests.some(({ path }) => path === "/v2/state/active-contracts");
    await until("the updates are followed", () => hasSnapshot() && participant.streams === 1);
    const begun = performance.now();
    child.kill(signal);
    expect(await ended).toEqual([0, null]);
    expect(performance.now() - begun).toBeLessThan(5_000);
    await until("the stream is closed", () => participant.streams === 0);
    expect(await said).toMatch(
      /^offledger follows http:\/\/127\.0\.0\.1:\d+\/ and listens at http:\/\/127\.0\.0\.1:\d+\n/,
    );
  } finally {
    child.kill("SIGKILL");
    await participant.stop();
  }
});
