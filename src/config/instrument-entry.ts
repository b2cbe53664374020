/** The entry of one instrument in the operator's instruments file, field by field. */
import { isMap, isScalar, type Node } from "yaml";
import type { YamlDocument } from "./yaml-document.js";

export interface InstrumentEntry {
  readonly name?: string;
  readonly symbol?: string;
  /** 0 to 10. */
  readonly decimals?: number;
  readonly description?: string;
  /** At least one field. */
  readonly pauseInfo?: PauseEntry;
  readonly showAccountInputFields?: boolean;
  /** Each once. */
  readonly accountInputFieldsToShow?: readonly AccountInputField[];
}

export interface PauseEntry {
  readonly reason?: string;
  /** RFC 3339 in UTC. */
  readonly until?: string;
}

const accountInputFields = ["provider", "accountId"] as const;
export type AccountInputField = (typeof accountInputFields)[number];

/** The scale of a Daml Decimal. */
const MAX_DECIMALS = 10;

/** Returns undefined for a wrong value, after reporting it. */
type FieldReader<T> = (document: YamlDocument, node: Node, path: string) => T | undefined;
type FieldReaders<T> = { readonly [K in keyof T]-?: FieldReader<T[K]> };

const readText: FieldReader<string> = (document, node, path) => {
  if (isScalar(node) && typeof node.value === "string" && node.value.trim() !== "") return node.value;
  const hint = isScalar(node) && node.value !== null ? "; quote text that looks like another type" : "";
  return document.report(node, `${path} must be a non-empty string${hint}`);
};

const readDecimals: FieldReader<number> = (document, node, path) => {
  const value = isScalar(node) ? node.value : undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_DECIMALS) return value;
  return document.report(node, `${path} must be an integer from 0 to ${MAX_DECIMALS}`);
};

const readBoolean: FieldReader<boolean> = (document, node, path) => {
  if (isScalar(node) && typeof node.value === "boolean") return node.value;
  return document.report(node, `${path} must be true or false`);
};

const UTC_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

const readTime: FieldReader<string> = (document, node, path) => {
  const value = isScalar(node) ? node.value : undefined;
  if (typeof value === "string" && UTC_TIME.test(value) && isOnCalendar(value)) return value;
  return document.report(node, `${path} must be a time in UTC such as 2026-01-31T12:00:00Z`);
};

/** Date.parse reads 30 February as a day in March. */
function isOnCalendar(time: string): boolean {
  const millis = Date.parse(time);
  return !Number.isNaN(millis) && new Date(millis).toISOString().slice(0, 19) === time.slice(0, 19);
}

const readAccountInputFields: FieldReader<readonly AccountInputField[]> = (document, node, path) => {
  const found: AccountInputField[] = [];
  const names = accountInputFields.join(", ");
  for (const [index, item] of document.items(node, path, names)) {
    const field = accountInputFields.find((name) => isScalar(item) && item.value === name);
    if (field === undefined) document.report(item, `${path}[${index}] must be one of ${names}`);
    else if (found.includes(field)) document.report(item, `${path}[${index}] is a duplicate of ${field}`);
    else found.push(field);
  }
  return found;
};

const readPause: FieldReader<PauseEntry> = (document, node, path) => {
  if (isMap(node) && node.items.length === 0) return document.report(node, `${path} must have a reason or until`);
  return readFields<PauseEntry>(document, node, path, { reason: readText, until: readTime });
};

const entryReaders: FieldReaders<InstrumentEntry> = {
  name: readText,
  symbol: readText,
  decimals: readDecimals,
  description: readText,
  pauseInfo: readPause,
  showAccountInputFields: readBoolean,
  accountInputFieldsToShow: readAccountInputFields,
};

/** Reads an entry, and reports every problem in it. */
export const readInstrumentEntry = (document: YamlDocument, node: Node, path: string): InstrumentEntry =>
  readFields(document, node, path, entryReaders);

function readFields<T extends object>(
  document: YamlDocument,
  node: Node,
  path: string,
  readers: FieldReaders<T>,
): Partial<T> {
  const known = new Map(Object.entries<FieldReader<unknown>>(readers));
  const names = [...known.keys()].join(", ");
  const fields: Record<string, unknown> = {};
  for (const [name, value] of document.entries(node, path, names)) {
    const read = known.get(name);
    if (read === undefined) {
      document.report(value, `${path}.${name} is not a known field; known fields: ${names}`);
      continue;
    }
    const parsed = read(document, value, `${path}.${name}`);
    if (parsed !== undefined) fields[name] = parsed;
  }
  // Each field has the type of its reader.
  return fields as Partial<T>;
}
