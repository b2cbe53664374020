/** The benchmarks of serving, by their names, in the order of the table. */
import type { Row } from "../report/row.js";
import { latency } from "./latency.js";
import { overloaded } from "./overload.js";
import { pauses } from "./pauses.js";
import { protocols } from "./protocols.js";
import { querying } from "./passthrough.js";
import { worstSettlement } from "./settlement.js";
import { registrySize } from "./registry-size.js";

export const parts: Readonly<Record<string, () => Promise<Row[]>>> = {
  protocols,
  settlement: worstSettlement,
  latency,
  overload: overloaded,
  size: registrySize,
  pauses,
  querying,
};
