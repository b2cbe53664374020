/** Counts how often a replica in this process asks its database on behalf of requests. */
import pg from "pg";

/** The statement that brings what requests look up, and tells what has changed, also where nothing is looked up. */
const FETCH = "fetch";
/** Which of its values look anything up. */
const [FIRST, BEHIND] = [2, 10];

let count = 0;
export const trips = (): number => count;

const ask = Reflect.get(pg.Client.prototype, "query") as (...asked: unknown[]) => unknown;
Reflect.set(pg.Client.prototype, "query", function counted(this: pg.Client, ...asked: unknown[]): unknown {
  if (looksUp(asked[0])) count++;
  return Reflect.apply(ask, this, asked);
});

function looksUp(statement: unknown): boolean {
  const { name, values = [] } = statement as { readonly name?: string; readonly values?: readonly unknown[] };
  return name === FETCH && values.slice(FIRST, BEHIND).some((list) => Array.isArray(list) && list.length > 0);
}
