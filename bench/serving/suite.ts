/** The parts of the serving benchmark by their command-line names, in the order of the table. */
import type { Row } from "../report/row.js";
import { measureLatency } from "./latency.js";
import { measureOverload } from "./overload.js";
import { measurePassthrough } from "./passthrough.js";
import { measurePauses } from "./pauses.js";
import { measureProtocols } from "./protocols.js";
import { measureRegistrySize } from "./registry-size.js";
import { measureSettlement } from "./settlement.js";

export const suite: Readonly<Record<string, () => Promise<Row[]>>> = {
  protocols: measureProtocols,
  settlement: measureSettlement,
  latency: measureLatency,
  overload: measureOverload,
  size: measureRegistrySize,
  pauses: measurePauses,
  querying: measurePassthrough,
};
