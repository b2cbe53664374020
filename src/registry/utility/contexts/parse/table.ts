import { ObjectReader, type Problem } from "../../../../util/object-reader.js";
import { type Operation, operations } from "../operations.js";
import { type KnownParts, readDisclosureLine, readEntryLine, readOperations } from "./lines.js";
import type { ContextTable, OperationRow } from "../table.js";

/** Reads the table of contexts.yaml. Adds a problem for each wrong field, and for each operation without a row. */
export function parseTable(value: unknown, known: KnownParts, problems: Problem[]): ContextTable {
  const rows = new Map<Operation, OperationRow>();
  const table = new ObjectReader({ rows: value }, [], problems);
  for (const reader of table.objects("rows")) {
    const named = readOperations(reader);
    const row = readRow(reader, known);
    for (const operation of named) {
      if (rows.has(operation)) reader.report(["operations"], `has ${operation}, which has a row already`);
      rows.set(operation, row);
    }
  }
  for (const operation of operations) if (!rows.has(operation)) table.report(["rows"], `has no row for ${operation}`);
  // Every operation has a row, or there is a problem.
  return Object.fromEntries(rows) as unknown as ContextTable;
}

function readRow(reader: ObjectReader, known: KnownParts): OperationRow {
  const row = {
    entries: reader.objects("entries").flatMap((line) => readEntryLine(line, known) ?? []),
    disclosures: reader.objects("disclosures").flatMap((line) => readDisclosureLine(line, known) ?? []),
    needsBlocklist: reader.optionalOneOf("blocklist", ["required"]) !== undefined,
    hasRewards: reader.optionalBoolean("rewards") ?? false,
    allowsMissing: reader.optionalOneOf("missing", ["allowed"]) !== undefined,
  };
  reader.rejectUnknown();
  return row;
}
