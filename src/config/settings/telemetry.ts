import { boolean, hostName, httpUrl, integer, nonEmpty, oneOf } from "../parsers.js";
import { count, optional, setting } from "./setting.js";

const loggedRequests = ["all", "failed", "none"] as const;
export type LoggedRequests = (typeof loggedRequests)[number];

export const telemetrySettings = {
  logRequests: setting<LoggedRequests>("log-requests", {
    accepts: `one of ${loggedRequests.join(", ")}`,
    description: "requests to log, a line each",
    default: "failed",
    parse: oneOf(loggedRequests),
  }),
  metricsPort: optional("metrics-port", {
    accepts: "a number from 0 to 65535",
    description: "operator's port: metrics for Prometheus at /metrics, warnings at /warnings; 0 selects a free port",
    parse: integer(0, 65_535),
    defaultLabel: "none",
  }),
  metricsHost: setting("metrics-host", {
    accepts: "an address or host name",
    description: "address to listen on with the operator's port",
    default: "127.0.0.1",
    parse: hostName,
  }),
  operatorTokenFile: optional("operator-token-file", {
    accepts: "the path of a file",
    description: "file with the token that every request to the operator's port needs; read again when it changes",
    parse: nonEmpty,
  }),
  tracesUrl: optional("traces-url", {
    accepts: "an http or https URL",
    description: "OTLP over HTTP endpoint for traces, such as http://localhost:4318/v1/traces",
    parse: httpUrl,
  }),
  tracesPercent: count(
    "traces-percent",
    { min: 0, max: 100, default: 100 },
    "percentage of new traces to export; a trace context of the caller keeps its own sampling decision",
  ),
  reflection: setting<boolean>("reflection", {
    accepts: "true or false",
    description: "whether to serve gRPC reflection",
    default: true,
    parse: boolean,
  }),
};
