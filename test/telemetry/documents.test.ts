/** Compares the dashboard, the alerts and docs/observability.md with the metrics of running services. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { startApp } from "../../src/app/app.js";
import { findings } from "../../src/domain/causes.js";
import { callNamed } from "../fixtures/calls/index.js";
import { databaseAt, freshDatabase } from "../fixtures/postgres.js";
import { sendRest } from "../fixtures/protocols.js";
import { quiet } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { listWarnings } from "../fixtures/warnings.js";
import { alertCases } from "./alert-cases.js";
import { scrape } from "./starting.js";

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

interface Recording {
  readonly record: string;
  readonly expr: string;
}

interface Target {
  readonly expr: string;
  readonly datasource: { readonly uid: string };
  readonly legendFormat: string;
}

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly datasource?: { readonly uid: string };
    readonly gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>;
    readonly targets?: readonly Target[];
  }[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: string | { readonly query: string } }[];
  };
}

const page = readFileSync("docs/observability.md", "utf8");
const dashboard = JSON.parse(readFileSync("deploy/helm/offledger/files/dashboard.json", "utf8")) as Dashboard;
const { groups } = parse(readFileSync("deploy/helm/offledger/files/alerts.yaml", "utf8")) as {
  readonly groups: readonly { readonly rules: readonly (Alert | Recording)[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter((rule) => "alert" in rule);
const recordings = rules.filter((rule) => "record" in rule);

/** Labels and the metric that Prometheus itself adds. */
const ofPrometheus = ["job", "instance"];
const upMetric = "up";

const words = (text: string): string[] => text.split(/\s+/);

/** Possible values of labels that expressions match. */
const values: Readonly<Record<string, readonly string[]>> = {
  status: words(
    `ok canceled unknown invalid_argument deadline_exceeded not_found already_exists permission_denied resource_exhausted
    failed_precondition aborted out_of_range unimplemented internal unavailable data_loss unauthenticated`,
  ),
  result: ["sent", "failed"],
  kind: Object.keys(findings),
  job: ["$job", ".*offledger.*"],
  group: ["factories", "contexts", "metadata", "probes", "streams", "none"],
  protocol: ["rest"],
  le: ["0.25"],
  instance: ["$instance"],
  operation: ["$operation"],
};

/** Labels by sample name, and the names of all metrics, as served. */
const labels = new Map<string, Set<string>>();
const metrics = new Set<string>();

beforeAll(async () => {
  const database = await freshDatabase();
  const gone = new URL("http://127.0.0.1:9/v1/traces");
  vi.stubEnv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", gone.href);
  const common = {
    ...quiet(),
    logRequests: "none",
    metricsPort: { host: "127.0.0.1", port: 0 },
    graceSeconds: 1,
  } as const;
  const apps = [
    await startApp({ ...common, sendsTraces: true }),
    await startApp({ ...common, databaseUrl: databaseAt(database.url) }),
    // Nothing listens there: requests fail, and the ledger reconnects.
    await startApp({ ...common, ledgerUrl: gone, ledgerParties: ["p::1220"] }),
  ];
  // The share of the heap is known once the contracts are loaded.
  await until("the one on a database is ready", async () => (await fetch(`${apps[1]?.url}/readyz`)).ok);
  const names = ["v1 instruments", "v1 transfer factory, offer", "an instrument that does not exist"];
  for (const { url } of apps) for (const name of names) await (await sendRest(url, callNamed(name))).text();
  // The gauge of warnings has samples once the registry is checked, and that of garbage once some was collected.
  await listWarnings(apps[0]?.metricsUrl);
  await until("garbage is collected", async () =>
    (await scrape(apps[0]?.metricsUrl)).text.includes("gc_duration_seconds_sum"),
  );
  for (const { metricsUrl } of apps) {
    const { types, samples } = await scrape(metricsUrl);
    for (const name of types.keys()) metrics.add(name);
    for (const sample of samples) {
      const known = labels.get(sample.name) ?? new Set();
      for (const label of Object.keys(sample.labels)) known.add(label);
      labels.set(sample.name, known);
    }
  }
  for (const { record, expr } of recordings) labels.set(record, new Set(read(expr).grouped));
  for (const app of apps) await app.close();
  await database.drop();
}, 60_000);

/** Every expression, with the panel, variable or alert it belongs to. */
function expressions(): [where: string, text: string][] {
  const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }): [string, string] => [title, expr]),
  );
  const variables = dashboard.templating.list.flatMap(({ name, query }): [string, string][] =>
    typeof query === "string" ? [] : [[name, query.query]],
  );
  const ruled = rules.map((rule): [string, string] => ["alert" in rule ? rule.alert : rule.record, rule.expr]);
  return [...panels, ...variables, ...ruled];
}

describe("every expression", () => {
  test("uses metrics and labels that are served", () => {
    const wrong = expressions().flatMap(([where, text]) => {
      const { selectors, grouped } = read(text);
      const known = new Set(ofPrometheus);
      const problems = selectors.flatMap(({ metric, matchers }) => {
        const own = metric === upMetric ? new Set<string>() : labels.get(metric);
        if (own === undefined) return [`${where}: unknown metric ${metric}`];
        for (const label of own) known.add(label);
        return matchers
          .filter(({ label }) => !own.has(label) && !ofPrometheus.includes(label))
          .map(({ label }) => `${where}: ${metric} has no label ${label}`);
      });
      return problems.concat(
        grouped.filter((label) => !known.has(label)).map((label) => `${where}: no label ${label}`),
      );
    });
    expect(wrong).toEqual([]);
    expect(expressions().length).toBeGreaterThan(40);
  });

  test("matches possible values of labels", () => {
    const wrong = expressions().flatMap(([where, text]) =>
      read(text).selectors.flatMap(({ matchers }) =>
        matchers.flatMap(({ label, value }) =>
          value
            .split("|")
            .filter((one) => values[label]?.includes(one) !== true)
            .map((one) => `${where}: ${label} ${one}`),
        ),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

describe("the dashboard", () => {
  test("uses the chosen data source in panels that do not overlap", () => {
    expect(dashboard.templating.list[0]).toMatchObject({ name: "datasource", type: "datasource", query: "prometheus" });
    const shown = dashboard.panels.filter(({ type }) => type !== "row");
    for (const { datasource, targets = [] } of shown) {
      expect(targets.length).toBeGreaterThan(0);
      expect([datasource, ...targets.map((target) => target.datasource)].map((source) => source?.uid)).toEqual(
        Array(targets.length + 1).fill("${datasource}"),
      );
    }
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  test("shows every metric of the service", () => {
    const shown = new Set(
      expressions().flatMap(([, text]) => read(text).selectors.map(({ metric }) => baseOf(metric))),
    );
    expect(ownMetrics().filter((name) => !shown.has(name))).toEqual([]);
  });

  test("has only labels in its legends that its expressions keep", () => {
    const wrong = dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.flatMap(({ expr, legendFormat }) => {
        const { selectors, grouped } = read(expr);
        const own = selectors.flatMap(({ metric }) => Array.from(labels.get(metric) ?? []));
        const left = grouped.length > 0 ? grouped : [...own, ...ofPrometheus];
        const used = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
        return used.filter((label) => !left.includes(label)).map((label) => `${title}: ${label}`);
      }),
    );
    expect(wrong).toEqual([]);
  });
});

describe("every alert", () => {
  test("has a unique name, a severity and texts", () => {
    expect(alerts.length).toBeGreaterThan(10);
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    for (const {
      alert,
      for: time,
      labels: { severity },
      annotations,
      ...more
    } of alerts) {
      expect(alert).toMatch(/^Offledger[A-Z]/);
      expect(time ?? "1m").toMatch(/^\d+m$/);
      expect(["page", "ticket"]).toContain(severity);
      expect(annotations.summary.length * annotations.description.length).toBeGreaterThan(0);
      expect(Object.keys(more)).toEqual(["expr"]);
    }
  });

  test("uses recordings that there are", () => {
    const used = alerts.flatMap(({ expr }) => [...expr.matchAll(/offledger:\w+:\w+/g)].map(([name]) => name));
    expect(new Set(used)).toEqual(new Set(recordings.map(({ record }) => record)));
  });

  test("has a case in which it fires", () => {
    const fired = new Set(alertCases.flatMap(({ firing }) => firing));
    expect(fired).toEqual(new Set(alerts.map(({ alert }) => alert)));
  });

  test("has cases with the labels that are served", () => {
    const wrong = alertCases.flatMap(({ title, series }) =>
      Object.keys(series).flatMap((text) => {
        const [{ metric, matchers } = { metric: "", matchers: [] }] = read(text).selectors;
        const own = matchers.filter(({ label }) => !ofPrometheus.includes(label));
        const served = metric === upMetric ? [] : [...(labels.get(metric) ?? ["?"])];
        const isOther = own.some(
          ({ label, value }) => label !== "operation" && values[label]?.includes(value) !== true,
        );
        const names = own.map(({ label }) => label);
        return isOther || names.toSorted(byName).join() !== served.toSorted(byName).join() ? [`${title}: ${text}`] : [];
      }),
    );
    expect(wrong).toEqual([]);
  });
});

test("the page lists exactly the metrics of the service", () => {
  const named = [...page.matchAll(/^- `(offledger_\w+)`(?: by .*)?: /gm)].map(([, name]) => name ?? "");
  expect(named.toSorted(byName)).toEqual(ownMetrics().toSorted(byName));
  const mentioned = [...page.matchAll(/\b((?:offledger|nodejs|process)_[a-z0-9_]+)/g)].map(([, name = ""]) => name);
  expect(mentioned.filter((name) => !metrics.has(baseOf(name)) && !name.endsWith("_"))).toEqual([]);
});

const byName = (a: string, b: string): number => a.localeCompare(b);
const ownMetrics = (): string[] => [...metrics].filter((name) => name.startsWith("offledger_"));

/** The metric of a sample: the samples of a histogram have suffixes. */
function baseOf(name: string): string {
  const base = name.replace(/_(bucket|sum|count)$/, "");
  return metrics.has(base) ? base : name;
}

interface Expression {
  readonly selectors: readonly { readonly metric: string; readonly matchers: { label: string; value: string }[] }[];
  /** Labels in `by` and `without`. */
  readonly grouped: readonly string[];
}

/** The metrics and labels of an expression in PromQL. */
function read(text: string): Expression {
  const selectors = [...text.matchAll(/\b((?:offledger|nodejs|process)_\w+|offledger(?::\w+)+|up)\b(\{[^}]*\})?/g)].map(
    ([, metric = "", braces = ""]) => {
      const matchers = [...braces.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)];
      return { metric, matchers: matchers.map(([, label = "", value = ""]) => ({ label, value })) };
    },
  );
  const clauses = [...text.matchAll(/\b(?:by|without)\s*\(([^)]*)\)|^label_values\(.*,\s*(\w+)\)$/g)];
  const grouped = clauses.flatMap(([, list, label]) => (list ?? label ?? "").split(",").map((one) => one.trim()));
  if (/\b(?!(?:offledger|nodejs|process)_|up\b)\w+\{/.test(text)) throw new Error(`a metric of others in ${text}`);
  if (selectors.length === 0 && !/\boffledger:/.test(text)) throw new Error(`no metric in ${text}`);
  return { selectors, grouped };
}
