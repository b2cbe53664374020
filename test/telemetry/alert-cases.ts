/** For each alert: series beside which it fires, and series beside which it does not. */

/** Values by series, as promtool reads them: one a minute, from minute 0. */
type Series = Readonly<Record<string, string>>;

interface AlertCase {
  readonly title: string;
  readonly minute: number;
  readonly series: Series;
  /** All alerts that fire in this minute. */
  readonly firing: readonly string[];
}

const api = 'job="offledger",instance="api-1:9464"';
const otherApi = 'job="offledger",instance="api-2:9464"';
const mirror = 'job="offledger",instance="mirror-1:9464"';
const otherMirror = 'job="offledger",instance="mirror-2:9464"';
const ready = (process: string): string => `offledger_ready{${process}}`;
const lag = (process: string): string => `offledger_ledger_lag_seconds{${process}}`;
const mirroring = (process: string): string => `offledger_mirroring{${process}}`;

const always = "x1440";
/** A job in which all is well. */
const healthy: Series = {
  [`up{${api}}`]: `1${always}`,
  [ready(api)]: `1${always}`,
  [ready(otherApi)]: `1${always}`,
  [ready(mirror)]: `1${always}`,
  [`offledger_watch_streams{${api}}`]: `3${always}`,
  [`offledger_watch_streams{${otherApi}}`]: `3${always}`,
  [mirroring(mirror)]: `1${always}`,
  [mirroring(otherMirror)]: `0${always}`,
  [lag(api)]: `1${always}`,
};

const labelsOf = (group: string): string => `${api},group="${group}",operation="offledger.of.${group}",protocol="rest"`;
/** Requests by group and status: so many a minute, or the values of a counter. */
const traffic = (groups: Readonly<Record<string, Readonly<Record<string, number | string>>>>): Series =>
  Object.fromEntries(
    Object.entries(groups).flatMap(([group, byStatus]) =>
      Object.entries(byStatus).map(([status, of]) => [
        `offledger_requests_total{${labelsOf(group)},status="${status}"}`,
        typeof of === "number" ? `0+${of}${always}` : of,
      ]),
    ),
  );
/** Requests a minute, and those below a quarter of a second. */
const durations = (group: string, all: number, quick: number): Series => ({
  [`offledger_request_duration_seconds_bucket{${labelsOf(group)},le="0.25"}`]: `0+${quick}${always}`,
  [`offledger_request_duration_seconds_count{${labelsOf(group)}}`]: `0+${all}${always}`,
});
const warnings = (kind: string): Series => ({ [`offledger_registry_warnings{${api},kind="${kind}"}`]: `2${always}` });
const checked = `offledger_registry_checked_timestamp_seconds{${api}}`;
const started = `process_start_time_seconds{${api}}`;

const HOURS = 60;

type Row = readonly [title: string, minute: number, series: Series, ...firing: readonly string[]];

const rows: readonly Row[] = [
  ["all is well", 2 * HOURS, {}],

  [
    "every request for metadata fails, beside frequent probes and many other requests",
    HOURS,
    traffic({ metadata: { unavailable: 1 }, factories: { ok: 6000 }, probes: { ok: 600 } }),
    "OffledgerFailing",
    "OffledgerFailingSlowly",
  ],
  [
    "one request of a hundred fails for six hours",
    6 * HOURS,
    traffic({ contexts: { ok: 99, deadline_exceeded: 1 } }),
    "OffledgerFailing",
    "OffledgerFailingSlowly",
  ],
  [
    "a probed replica is not ready, and streams end with it",
    12 * HOURS,
    traffic({
      factories: { ok: 60, unavailable: `0${always}` },
      probes: { unavailable: 60 },
      streams: { unavailable: 60 },
    }),
  ],
  [
    "callers send wrong requests",
    12 * HOURS,
    traffic({ factories: { invalid_argument: 60, failed_precondition: 60, canceled: 60 } }),
  ],
  [
    "two requests of a thousand fail for six hours",
    6 * HOURS,
    traffic({ contexts: { ok: 998, unavailable: 2 } }),
    "OffledgerFailingSlowly",
  ],
  ["one request of two thousand fails for six hours", 6 * HOURS, traffic({ contexts: { ok: 1999, unavailable: 1 } })],
  [
    "one request of ten failed for twenty minutes, until ten minutes ago",
    12 * HOURS,
    traffic({ contexts: { ok: 60, unavailable: "0x689 0+6x20 120x10" } }),
    "OffledgerFailingSlowly",
  ],
  [
    "one request of a hundred fails for an hour of a day",
    24 * HOURS,
    traffic({ contexts: { ok: 99, unavailable: "0x1379 0+1x60" } }),
  ],

  [
    "one of few requests fails",
    HOURS,
    traffic({ factories: { ok: 1, unavailable: `0x54 1${always}` } }),
    "OffledgerFailingSlowly",
  ],
  [
    "every request of few fails: two an hour, for half a day",
    12 * HOURS + 3,
    traffic({ factories: { unavailable: Array.from({ length: 26 }, (_, half) => `${half}x29`).join(" ") } }),
    "OffledgerFailing",
    "OffledgerFailingSlowly",
  ],

  ["one request of five is slow", HOURS, durations("factories", 60, 48), "OffledgerSlow", "OffledgerSlowly"],
  [
    "every request is slow beside frequent probes, which are quick",
    HOURS,
    { ...durations("factories", 1, 0), ...durations("probes", 600, 600) },
    "OffledgerSlow",
    "OffledgerSlowly",
  ],
  [
    "probes are slow and streams last for hours, beside quick requests",
    12 * HOURS,
    {
      ...durations("factories", 60, 60),
      ...durations("probes", 600, 0),
      ...durations("none", 600, 0),
      ...traffic({ streams: { ok: 600 } }),
    },
  ],
  ["two requests of a hundred are slow for six hours", 6 * HOURS, durations("factories", 100, 98), "OffledgerSlowly"],
  [
    "four of few requests are slow",
    HOURS,
    {
      [`offledger_request_duration_seconds_bucket{${labelsOf("factories")},le="0.25"}`]: `0+1x20 20${always}`,
      [`offledger_request_duration_seconds_count{${labelsOf("factories")}}`]: `0+1x20 20x33 24${always}`,
    },
    "OffledgerSlowly",
  ],
  ["one request of two hundred is slow for six hours", 6 * HOURS, durations("factories", 200, 199)],

  ["a process does not serve metrics", 3, { [`up{${api}}`]: `0${always}` }, "OffledgerDown"],
  [
    "a scrape fails once, and a process of others is down",
    5,
    { [`up{${api}}`]: "1 1 0 1 1 1", 'up{job="postgres"}': "0x5" },
  ],

  [
    "no replica is ready, beside a mirror that is",
    2,
    { [ready(api)]: `0${always}`, [ready(otherApi)]: `0${always}` },
    "OffledgerNoneReady",
  ],
  ["one of two replicas is not ready for six minutes", 6, { [ready(api)]: `0${always}` }, "OffledgerNotReady"],
  ["a replica starts for four minutes", 10, { [ready(api)]: `0x4 1${always}` }],

  ["all mirrors stand by", 3, { [mirroring(mirror)]: `0${always}` }, "OffledgerNobodyMirrors"],
  [
    "the mirrors of one of two registries are gone",
    3,
    {
      [ready('job="offledger-b",instance="api-3:9464"')]: `1${always}`,
      [`offledger_watch_streams{job="offledger-b",instance="api-3:9464"}`]: `0${always}`,
    },
    "OffledgerNobodyMirrors",
  ],
  [
    "nothing is scraped",
    3,
    Object.fromEntries(Object.keys(healthy).map((name) => [name, "_x10"])),
    "OffledgerNobodyMirrors",
  ],
  [
    "another mirror takes over within two minutes",
    9,
    { [mirroring(mirror)]: "1x4 0x10", [mirroring(otherMirror)]: "0x5 1x10" },
  ],

  ["a replica is 25 seconds behind", 5, { [lag(api)]: `25${always}` }, "OffledgerLagging"],
  [
    "a replica is two minutes behind, and more",
    12,
    { [lag(api)]: "1 61 121 160x20" },
    "OffledgerLagging",
    "OffledgerSoonStale",
  ],
  ["a replica is 25 seconds behind for a minute", 5, { [lag(api)]: "1 25 25 1x10" }],

  [
    "the ledger is lost every minute",
    25,
    { [`offledger_ledger_reconnects_total{${mirror}}`]: `0+1${always}` },
    "OffledgerReconnecting",
  ],
  ["the ledger is lost five times", 25, { [`offledger_ledger_reconnects_total{${mirror}}`]: `0x10 1+1x4 5${always}` }],

  [
    "one request of many fails because of a defect",
    30,
    traffic({ contexts: { ok: 6000, internal: "0x20 1x20" } }),
    "OffledgerDefect",
  ],
  ["a request fails without a defect", 30, traffic({ contexts: { ok: 6000, unavailable: "0x20 1x20" } })],

  [
    "one request of a hundred is rejected by a limit, and every probe",
    20,
    traffic({ factories: { ok: 99, resource_exhausted: 1 }, probes: { resource_exhausted: 600 } }),
  ],
  [
    "one request of ten is refused unread, beside frequent probes",
    20,
    traffic({ factories: { ok: 54 }, none: { unavailable: 6 }, probes: { ok: 6000 } }),
    "OffledgerFlooded",
  ],
  [
    "one request of a hundred is refused unread, and unknown paths are asked for",
    20,
    traffic({ factories: { ok: 99 }, none: { unavailable: 1, not_found: 600 } }),
  ],
  [
    "one request of ten is rejected by a limit, beside frequent probes",
    20,
    traffic({ factories: { ok: 54, resource_exhausted: 6 }, probes: { ok: 6000 } }),
    "OffledgerTurningAway",
  ],

  [
    "the event loop lags",
    15,
    { [`nodejs_eventloop_lag_p99_seconds{${api}}`]: `0.3${always}` },
    "OffledgerEventLoopBusy",
  ],
  [
    "the event loop of another program lags",
    15,
    {
      [`nodejs_eventloop_lag_p99_seconds{${api}}`]: `0.02${always}`,
      'nodejs_eventloop_lag_p99_seconds{job="shop"}': "9x20",
    },
  ],

  [
    "queries wait for connections",
    10,
    { [`offledger_database_waiting{${api}}`]: `20${always}` },
    "OffledgerDatabaseBusy",
  ],
  ["queries wait for connections for four minutes", 10, { [`offledger_database_waiting{${api}}`]: "0 20x4 0x10" }],

  [
    "the contracts fill most of the heap",
    20,
    { [`offledger_heap_share{${api}}`]: `0.85${always}` },
    "OffledgerHeapNearlyFull",
  ],
  [
    "the contracts do not fit the heap",
    20,
    { [`offledger_heap_share{${api}}`]: `1.2${always}` },
    "OffledgerHeapNearlyFull",
    "OffledgerHeapFull",
  ],
  ["the contracts fill a part of the heap", 20, { [`offledger_heap_share{${api}}`]: `0.7${always}` }],

  ["a process restarts every five minutes", 30, { [started]: "1x4 2x4 3x4 4x4 5x4 6x4 6x10" }, "OffledgerRestarting"],
  ["a process restarts three times", 30, { [started]: "1x4 2x4 3x4 4x30" }],

  [
    "most file descriptors are open",
    15,
    { [`process_open_fds{${api}}`]: `900${always}`, [`process_max_fds{${api}}`]: `1024${always}` },
    "OffledgerFilesRunOut",
  ],
  [
    "half of the file descriptors are open",
    15,
    { [`process_open_fds{${api}}`]: `512${always}`, [`process_max_fds{${api}}`]: `1024${always}` },
  ],

  ["a factory is missing", 20, warnings("registrar-not-served"), "OffledgerRegistryBroken"],
  ["a factory is missing for ten minutes", 10, warnings("registrar-not-served")],
  ["choices on instructions fail", 70, warnings("holding-missing"), "OffledgerInstructionsFail"],
  ["instructions have expired", 70, warnings("instruction-expired")],
  ["credentials end soon", 70, warnings("credential-expires"), "OffledgerCredentialsEnd"],
  ["credentials end soon for half an hour", 30, warnings("credential-expires")],

  ["the registry was checked an hour ago", HOURS, { [checked]: `1${always}` }, "OffledgerRegistryUnchecked"],
  ["a check takes twenty minutes", HOURS, { [checked]: "1x10 2x19 3x19 4x60" }],

  [
    "spans are lost",
    50,
    { [`offledger_trace_spans_total{${api},result="failed"}`]: `0+9${always}` },
    "OffledgerTracesLost",
  ],
  ["spans are sent", 50, { [`offledger_trace_spans_total{${api},result="sent"}`]: `0+9${always}` }],
];

export const alertCases: readonly AlertCase[] = rows.map(([title, minute, series, ...firing]) => ({
  title,
  minute,
  series: { ...healthy, ...series },
  firing,
}));
