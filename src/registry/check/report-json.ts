import { describeWarning, refusalStatus } from "../sdk/warnings.js";
import type { WarningReport } from "./warning-monitor.js";

/** A report for `GET /warnings` on the operator's port. docs/check.md describes it. */
export const reportJson = ({ checkedAt, offset, isComplete, total, counts, warnings }: WarningReport): object => ({
  checkedAt: new Date(checkedAt).toISOString(),
  offset,
  complete: isComplete,
  total,
  counts,
  warnings: warnings.map((warning) => {
    const { kind, registrar, instrument, contractId, party, operations, refusal } = warning;
    const status = refusal === undefined ? undefined : refusalStatus[refusal];
    return { kind, registrar, instrument, contractId, party, operations, status, message: describeWarning(warning) };
  }),
});
