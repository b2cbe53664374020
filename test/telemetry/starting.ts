/** A service for the duration of a test, and what it says of itself: metrics, and the log lines of its requests. */
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { type App, startApp } from "../../src/app/app.js";
import type { AppConfig } from "../../src/config/limits.js";
import type { ProcessRoles } from "../../src/ingest/database-source.js";
import { type RequestHistory, startTelemetry } from "../../src/telemetry/telemetry.js";
import { type ObservedService, observedService } from "../fixtures/observed-service.js";
import { quiet } from "../fixtures/run-service.js";

/** A time at which the credentials of the demo registry are valid. */
const NOW = Date.parse("2026-06-01T00:00:00Z");

/** Without load shedding and request log, unless configured. */
export async function start(
  config: Partial<AppConfig>,
  roles?: ProcessRoles,
  now: () => number = () => NOW,
): Promise<App> {
  const app = await startApp({ ...quiet(), logRequests: "none", ...config }, now, roles);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= app.close());
  onTestFinished(close);
  return { ...app, close };
}

export type Line = Readonly<Record<string, unknown>>;

export interface Observed extends ObservedService {
  readonly lines: Line[];
  /** Only with the operator's port. */
  readonly requests: RequestHistory;
}

/** The demo registry, or another service, in this process, with all that is noted of its requests. */
export async function observe(config: Partial<AppConfig>, serve = observedService): Promise<Observed> {
  const lines: Line[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  // Only a scrape reads the sources.
  const telemetry = await startTelemetry({ ...quiet(), ...config }, log, {} as Parameters<typeof startTelemetry>[2]);
  const service = await serve(telemetry.observers);
  return {
    url: service.url,
    lines,
    requests: telemetry.requests as RequestHistory,
    async close() {
      await service.close();
      await telemetry.close(1_000);
    },
  };
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Parses the Prometheus text format. Throws for a malformed line. */
function samplesOf(text: string): Sample[] {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const [, name, labels = "", value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`not a sample: ${line}`);
    const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)];
    return {
      name,
      labels: Object.fromEntries(pairs.map(([, label = "", of = ""]) => [label, of])),
      value: value === "+Inf" ? Infinity : Number(value),
    };
  });
}

/** The only sample with this name and these labels; undefined if there is none. */
export function valueOf(samples: readonly Sample[], name: string, labels: Sample["labels"] = {}): number | undefined {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, of]) => sample.labels[label] === of),
  );
  if (found.length > 1) throw new Error(`${found.length} samples of ${name} with ${JSON.stringify(labels)}`);
  return found[0]?.value;
}

export async function scrape(url: string | undefined) {
  if (url === undefined) throw new Error("metrics are not served");
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} from ${url}`);
  const text = await response.text();
  /** By name. */
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  return { text, types, samples: samplesOf(text) };
}
