/** Variables that a cluster adds for a Service named offledger. */
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { linksWarning, serviceLinks } from "../fixtures/service-links.js";
import { readErrors } from "./read.js";

const database = "--database-url postgres://database.example/registry";

test.each([
  "serve",
  `mirror ${database}`,
  `api ${database}`,
  `migrate ${database}`,
  "check",
  "contexts",
  "registry test own.yaml",
  "explain id",
  "health",
  "help",
  "version",
])("%s ignores them, with one warning", (line) => {
  const argv = line.split(" ");
  const without = readConfig(argv, { OFFLEDGER_LOG_LEVEL: "warn" });
  expect(without).toMatchObject({ ok: true, warnings: [] });
  expect(readConfig(argv, { ...serviceLinks, OFFLEDGER_LOG_LEVEL: "warn" })).toEqual({
    ...without,
    warnings: [linksWarning],
  });
});

test("those of other Services whose names begin so are ignored too, in the same warning", () => {
  const env = {
    OFFLEDGER_OPERATOR_SERVICE_HOST: "10.0.0.2",
    OFFLEDGER_OPERATOR_PORT_9464_TCP_ADDR: "10.0.0.2",
    // The name of a setting, from a Service named offledger-metrics.
    OFFLEDGER_METRICS_PORT: "tcp://10.0.0.3:9464",
  };
  const read = readConfig([], env);
  expect(read).toMatchObject({ ok: true, config: { metricsPort: undefined } });
  expect(read.ok ? read.warnings : []).toEqual([
    expect.stringMatching(
      /^ignored OFFLEDGER_METRICS_PORT, OFFLEDGER_OPERATOR_PORT_9464_TCP_ADDR, OFFLEDGER_OPERATOR_S/,
    ),
  ]);
});

test("an operator's mistakes are no service links", () => {
  const env = { OFFLEDGER_PORT: "http://10.0.0.1:8080", OFFLEDGER_SERVICE: "a" };
  const [unknown, port, ...others] = readErrors([], env);
  expect(unknown).toMatch(/^OFFLEDGER_SERVICE is not a setting: did you mean OFFLEDGER_/);
  expect(port).toBe('OFFLEDGER_PORT must be a number from 0 to 65535, got "http://10.0.0.1:8080"');
  expect(others).toEqual([]);
});
