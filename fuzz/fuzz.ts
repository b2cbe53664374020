/** The whole: so many inputs of every sort at a service, and a look at what it holds before and after. */
import { until } from "../test/fixtures/wait.js";
import { type Failure, Lane, type Tally } from "./worker.js";
import { leftBehind } from "./leak-check.js";
import { Target } from "./send/target.js";
import { unseeded } from "./corpus.js";
import { type Inside, Service } from "./service/service.js";
import { sorts } from "./generators/index.js";

export interface Options {
  readonly seed: number;
  readonly inputs: number;
  /** Longest that an answer may take, in milliseconds. */
  readonly limitMs: number;
  /** Waits until the service is rid of connections of HTTP/2 too whose clients have broken the protocol and gone. */
  readonly waitsForAll: boolean;
  /** Inputs of one sort alone, by their numbers, which are sent in place of all others. */
  readonly only?: { readonly sort: string; readonly from: number; readonly to: number } | undefined;
  /** The environment of the service. */
  readonly env: NodeJS.ProcessEnv;
  /** Told every few seconds how many have been sent. */
  readonly progress?: (sent: number) => void;
}

export interface Report {
  readonly sent: number;
  readonly seconds: number;
  readonly slowestMs: number;
  readonly came: ReadonlyMap<string, number>;
  readonly before: Inside | undefined;
  readonly after: Inside | undefined;
  readonly failures: readonly Failure[];
}

const PROGRESS_MS = 10_000;
/** Longest that is waited for connections to be closed: longer than the service keeps one of which it hears nothing. */
const CLOSING_MS = 90_000;
/** What is sent before the first look: a service that has just started has not yet compiled all that it is made of. */
const WARM_UP = { share: 0.2, most: 20_000 };

export async function fuzz(options: Options): Promise<Report> {
  const missing = unseeded();
  if (missing.length > 0) throw new Error(`test/fixtures/calls has no request for ${missing.join(", ")}`);
  const service = await Service.start(options.env);
  const tally: Tally = { failures: [], came: new Map(), sent: 0 };
  const timer = setInterval(() => options.progress?.(tally.sent), PROGRESS_MS);
  const begun = performance.now();
  try {
    const looked = await sendAll(service, tally, options);
    const seconds = (performance.now() - begun) / 1000;
    return { ...looked, seconds, sent: tally.sent, came: tally.came, failures: tally.failures };
  } finally {
    clearInterval(timer);
    await service.kill();
  }
}

type Looked = Pick<Report, "before" | "after" | "slowestMs">;

async function sendAll(service: Service, tally: Tally, options: Options): Promise<Looked> {
  const { hostname, port } = new URL(service.url);
  const target = new Target(hostname, Number(port), options.limitMs);
  const lanes = sorts.map((sort) => new Lane(sort, options.seed, tally));
  const goesOn = () => service.isAlive && service.complaints.length === 0;
  const fail = (wrong: string, shown = "") => tally.failures.push({ input: "all", wrong, shown });
  try {
    const ranges = rangesOf(options);
    const warmUp = Math.min(WARM_UP.share * options.inputs, WARM_UP.most) / options.inputs;
    const run = (part: (from: number, to: number) => readonly [from: number, to: number]) =>
      Promise.all(lanes.map((lane, index) => lane.run(target, ...part(...(ranges[index] ?? [0, 0])), goesOn)));
    const middle = (from: number, to: number) => from + Math.round((to - from) * warmUp);
    await run((from, to) => [from, middle(from, to)]);
    const before = await service.inside();
    await run((from, to) => [middle(from, to), to]);
    target.close();
    const after = await atRest(service, options.waitsForAll ? CLOSING_MS : 0);
    const lingering = options.waitsForAll ? 0 : target.lingering;
    if (before !== undefined && after !== undefined)
      for (const wrong of leftBehind(before, after, lingering)) fail(wrong);
    if (target.slowest > options.limitMs) fail(`the slowest took ${Math.round(target.slowest)} ms`);
    if (service.isAlive) {
      const code = await service.stop();
      if (code !== 0) fail(`asked to stop, it ended with ${code ?? "a signal"}`);
    } else {
      // By then all that it had to say has been read.
      await service.stop();
      fail(`the service has ended; under way or just sent: ${underWay(lanes)}`);
    }
    if (service.complaints.length > 0) {
      const lines = service.complaints.join("\n");
      fail(`the service's log has:\n${lines}`, `under way or just sent: ${underWay(lanes)}`);
    }
    return { before, after, slowestMs: target.slowest };
  } finally {
    target.close();
  }
}

/** The numbers of each sort's inputs, in the order of the sorts. */
function rangesOf({ only, inputs }: Options): (readonly [from: number, to: number])[] {
  return sorts.map(({ name, share }) => {
    if (only !== undefined) return only.sort === name ? [only.from, only.to] : [0, 0];
    return [0, Math.round((inputs * share) / 100)];
  });
}

/** What the service holds when no connection is left; or when it has had time enough to be rid of them. */
async function atRest(service: Service, closingMs: number): Promise<Inside | undefined> {
  let inside = await service.inside();
  try {
    await until(
      "connections are closed",
      async () => ((inside = await service.inside())?.sockets ?? 0) === 0,
      closingMs,
    );
  } catch {
    // What is left then is told by what was seen last.
  }
  return inside;
}

const underWay = (lanes: readonly Lane[]): string =>
  lanes.flatMap((lane) => [...lane.recent].map((index) => `${lane.name}:${index}`)).join(" ");
