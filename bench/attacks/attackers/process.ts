/** Runs one attacker in its own process. It ends by itself even if nothing stops it. */
import { serve } from "../../processes/child.js";
import { pollUntil } from "../../wait.js";
import { Tally } from "./attack.js";
import { type AttackName, attacks } from "./attacks.js";

export interface AttackerOptions {
  readonly name: AttackName;
  readonly url: string;
  readonly from: string;
  readonly maxSeconds: number;
}

export type AttackerQuestion = "stop";

const PREPARE_TIMEOUT_MS = 20_000;

serve<AttackerOptions, AttackerQuestion>(async ({ name, url, from, maxSeconds }) => {
  const { hostname, port } = new URL(url);
  const stopped = new AbortController();
  const timer = setTimeout(() => stopped.abort(), maxSeconds * 1000);
  const tally = new Tally();
  const ended = attacks[name]({ url, host: hostname, port: Number(port), from }, tally, stopped.signal);
  // A failure is reported when the attacker is stopped.
  ended.catch(() => undefined);
  // What the attack has to find out first takes none of its time.
  const opened = pollUntil(PREPARE_TIMEOUT_MS, "the first connection of the attack", async () => tally.opened > 0);
  await Promise.race([opened, ended]);
  return {
    started: "started",
    answer: async () => {
      clearTimeout(timer);
      stopped.abort();
      await ended;
      return tally;
    },
  };
});
