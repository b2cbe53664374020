/** The services that clients call, each with its own settings, and the environment that names them. */
import { setTimeout as delay } from "node:timers/promises";
import { startChangingLedger } from "./changing-ledger.js";
import { startIssuer } from "./issuer.js";
import { LateParticipant } from "./late-participant.js";
import { Service } from "./service.js";
import { startSlowProxy } from "./slow-proxy.js";
import { transferEnvironment } from "./transfer.js";

const READY_MS = 60_000;
/** Longer than the deadline of any client. */
const SLOW_MS = 5_000;

export interface Services {
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startServices(): Promise<Services> {
  const closers: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    // In reverse: what others depend on stops last.
    for (const close of closers.toReversed()) await close();
  };
  const start = async (...args: Parameters<typeof Service.start>): Promise<string> => {
    const service = await Service.start(...args);
    closers.push(() => service.stop());
    return service.url;
  };
  try {
    const issuer = await startIssuer();
    closers.push(() => issuer.close());
    const url = await start({});
    const slow = await startSlowProxy(url, SLOW_MS);
    closers.push(() => slow.close());
    const participant = await LateParticipant.create();
    closers.push(() => participant.close());
    const changing = await startChangingLedger();
    closers.push(() => changing.close());
    const changingUrl = await start({
      OFFLEDGER_LEDGER_URL: changing.url,
      OFFLEDGER_LEDGER_PARTIES: changing.parties,
    });
    await untilReady(changingUrl);
    // The participant starts after the first refusal: a client sees at least one, however fast the machine is.
    const starting = { OFFLEDGER_LEDGER_URL: participant.url, OFFLEDGER_LEDGER_PARTIES: participant.parties };
    const onLine = (line: string): void => {
      if (!line.includes("GetTransferFactory")) return;
      participant
        .start()
        .catch((error: unknown) => process.stderr.write(`the participant must start: ${String(error)}\n`));
    };
    const environment = {
      OFFLEDGER_URL: url,
      OFFLEDGER_URL_TOKENS: await start(issuer.settings),
      OFFLEDGER_TOKEN: issuer.token,
      OFFLEDGER_URL_SHEDDING: await start({ OFFLEDGER_MAX_DELAY_MS: "20" }),
      OFFLEDGER_URL_SLOW: slow.url,
      OFFLEDGER_URL_CHANGING: changingUrl,
      OFFLEDGER_CHANGE_URL: changing.changeUrl,
      OFFLEDGER_URL_STARTING: await start({ ...starting, OFFLEDGER_LOG_REQUESTS: "failed" }, onLine),
      ...transferEnvironment(),
    };
    return { environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilReady(url: string): Promise<void> {
  const deadline = performance.now() + READY_MS;
  while (!(await fetch(`${url}/readyz`)).ok) {
    if (performance.now() > deadline) throw new Error(`${url} must be ready within ${READY_MS} ms`);
    await delay(50);
  }
}
