/** Counts the lookups that a replica in this process sends to its database. */
import pg from "pg";

/** The statement of src/store/postgres/fetch.ts. It also runs without lookups, to read what has changed. */
const FETCH = "fetch";
/** The positions of its parameters that hold lookups. */
const [FIRST_LOOKUP, AFTER_LOOKUPS] = [2, 10];

let count = 0;
export const countRoundTrips = (): number => count;

const query = Reflect.get(pg.Client.prototype, "query") as (...args: unknown[]) => unknown;
Reflect.set(pg.Client.prototype, "query", function counted(this: pg.Client, ...args: unknown[]): unknown {
  if (hasLookups(args[0])) count++;
  return Reflect.apply(query, this, args);
});

function hasLookups(statement: unknown): boolean {
  const { name, values = [] } = statement as { readonly name?: string; readonly values?: readonly unknown[] };
  if (name !== FETCH) return false;
  return values.slice(FIRST_LOOKUP, AFTER_LOOKUPS).some((list) => Array.isArray(list) && list.length > 0);
}
