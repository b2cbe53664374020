/** How failures to send spans are counted and logged. */
import { InMemorySpanExporter, type ReadableSpan, type SpanExporter } from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";
import { CountingExporter } from "../../src/telemetry/tracing.js";

const working = new InMemorySpanExporter();
const failing = new InMemorySpanExporter();
void failing.shutdown();

/** An exporter that fails with `fails.error`, if set. */
function exporterThat(fails: { error: Error | undefined }): SpanExporter {
  return {
    export(spans, done) {
      const { error } = fails;
      if (error === undefined) working.export(spans, done);
      else failing.export(spans, (result) => done({ ...result, error }));
    },
    shutdown: () => Promise.resolve(),
  };
}

test("failures are logged once a minute, with the number of spans lost so far", async () => {
  const lines: { details: object; message: string }[] = [];
  const warn = (details: object, message: string) => void lines.push({ details, message });
  const clock = { now: 0 };
  const fails: { error: Error | undefined } = { error: new Error("connect ECONNREFUSED") };
  const log = { info: warn, warn, error: warn };
  const exporter = new CountingExporter(exporterThat(fails), log, () => clock.now);
  // Only their number matters.
  const send = (count: number) =>
    new Promise<void>((resolve) => exporter.export(Array<ReadableSpan>(count), () => resolve()));
  for (; clock.now < 60_000; clock.now += 1_000) await send(10);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.details).toMatchObject({ reason: "connect ECONNREFUSED", failed: 10 });
  await send(10);
  expect(lines).toHaveLength(2);
  expect(lines[1]?.details).toMatchObject({ failed: 610 });
  fails.error = undefined;
  clock.now = 1_000_000;
  await send(5);
  expect(lines).toHaveLength(2);
  expect(exporter.counts).toEqual({ sent: 5, failed: 610 });
});

test("a long reason is cut, and an error without a message is named by its code", () => {
  const reasons: string[] = [];
  const warn = (details: object) => void reasons.push((details as { reason: string }).reason);
  const log = { info: warn, warn, error: warn };
  const long = new CountingExporter(exporterThat({ error: new Error("x".repeat(100_000)) }), log, () => 0);
  long.export([], () => undefined);
  const empty = new CountingExporter(exporterThat({ error: Object.assign(new Error(), { code: 413 }) }), log, () => 0);
  empty.export([], () => undefined);
  expect(reasons).toEqual(["x".repeat(200), "413"]);
});
