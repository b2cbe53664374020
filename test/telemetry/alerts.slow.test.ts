/** The alerts of deploy/helm/offledger/files by promtool (package `prometheus` of Debian), which evaluates them as Prometheus does. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { temporaryFile } from "../fixtures/files.js";
import { run } from "../fixtures/program.js";
import { alertCases } from "./alert-cases.js";

const rules = resolve("deploy/helm/offledger/files/alerts.yaml");
const isSkipped = spawnSync("promtool", ["--version"]).status !== 0;
if (isSkipped) console.warn("promtool is missing: the alerts are not tested");

const promtool = (...args: readonly string[]) => run("promtool", args, { cwd: tmpdir() });

test.skipIf(isSkipped)("the file is valid", async () => {
  expect(await promtool("check", "rules", rules)).toMatchObject({ code: 0, err: "" });
});

test.skipIf(isSkipped).each(alertCases)("$title", async ({ minute, series, firing }) => {
  const file = stringify({
    rule_files: [rules],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [
          {
            expr: 'count by (alertname) (ALERTS{alertstate="firing"}) > bool 0',
            eval_time: `${minute}m`,
            exp_samples: firing.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
          },
        ],
      },
    ],
  });
  const { code, out, err } = await promtool("test", "rules", await temporaryFile("alerts.test.yaml", file));
  expect(code, out + err).toBe(0);
});
