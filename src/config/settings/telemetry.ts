/** What the service tells of itself. */
import { hostName, httpUrl, oneOf, trueOrFalse, wholeNumber } from "../parsers.js";
import { named, number, optional, type Setting } from "./setting.js";

/** Of which requests a line is logged. */
export const loggedRequests = ["all", "failed", "none"] as const;
export type LoggedRequests = (typeof loggedRequests)[number];

export const telemetrySettings = {
  logRequests: {
    ...named("log-requests"),
    accepts: `one of ${loggedRequests.join(", ")}`,
    description: "requests of which a line is logged",
    default: "failed",
    parse: oneOf(loggedRequests),
  } satisfies Setting<LoggedRequests> as Setting<LoggedRequests>,
  metricsPort: optional(
    "metrics-port",
    "a number from 0 to 65535",
    "port for Prometheus metrics, at /metrics; 0 lets the system choose",
    wholeNumber(0, 65_535),
    { defaultLabel: "none" },
  ),
  metricsHost: {
    ...named("metrics-host"),
    accepts: "an address or host name",
    description: "address to listen on for metrics",
    default: "127.0.0.1",
    parse: hostName,
  } satisfies Setting<string>,
  tracesUrl: optional(
    "traces-url",
    "an http or https URL",
    "where traces are sent by OTLP over HTTP, such as http://localhost:4318/v1/traces",
    httpUrl,
  ),
  tracesPercent: number(
    "traces-percent",
    0,
    100,
    100,
    "share of the traces begun here that are sent, in percent; whoever brings a trace decides",
  ),
  reflection: {
    ...named("reflection"),
    accepts: "true or false",
    description: "whether gRPC reflection tells clients the definitions of the services",
    default: true,
    parse: trueOrFalse,
  } satisfies Setting<boolean> as Setting<boolean>,
};
