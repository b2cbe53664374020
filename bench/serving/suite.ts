/** The parts of the serving benchmark by their command-line names, in the order of the table. */
import type { Row } from "../report/row.js";
import { measureProtocols } from "./protocols.js";
import { measureRegistrySize } from "./registry-size.js";
import { measureSettlement } from "./settlement.js";

export const suite: Readonly<Record<string, () => Promise<Row[]>>> = {
  protocols: measureProtocols,
  settlement: measureSettlement,
  size: measureRegistrySize,
};
