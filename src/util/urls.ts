/** How URLs are shown. A URL may hold a password or a token: no message, log, metric or response has one whole. */
import { parse, toClientConfig } from "pg-connection-string";

/** Origin and path: never user, password, query or fragment. */
export const displayUrl = ({ protocol, host, pathname }: Pick<URL, "protocol" | "host" | "pathname">): string =>
  `${protocol}//${host}${pathname}`;

/** Where a database is: PostgreSQL's URLs may have no host, which `URL` cannot hold. */
export interface DatabaseUrl {
  /** For the driver alone: it may hold a password. */
  readonly secret: string;
  /** Host, or the directory of a socket, port and database. */
  readonly name: string;
}

/** Reads a URL of PostgreSQL as the driver does. Undefined if the driver could not use it; throws URIError for bad escapes. */
export function readDatabaseUrl(text: string): DatabaseUrl | undefined {
  const target = readTarget(text);
  if (target === undefined) return undefined;
  const { host, port, database } = target;
  const path = `/${encodeURI(database)}`;
  const suffix = port === undefined ? "" : String(port);
  if (host.startsWith("/")) {
    const query = `?host=${encodeURI(host)}${suffix && `&port=${suffix}`}`;
    return { secret: text, name: `postgres://${path}${query}` };
  }
  const name = host.includes(":") ? `[${host}]` : host;
  return { secret: text, name: `postgres://${name}${suffix && `:${suffix}`}${path}` };
}

function readTarget(text: string) {
  try {
    // The driver would read the files of certificates here, which is for each connection to do.
    const parsed = parse(text.replaceAll(/(?<=[?&])(?:ssl|uselibpqcompat)[^&]*/g, ""));
    const { host = "", port, database = "" } = toClientConfig(parsed);
    // Several hosts, and a database in the query, are of libpq alone.
    const isUsable = !/[\s,]/.test(host) && (database !== "" || (host !== "" && !("dbname" in parsed)));
    return isUsable ? { host, port, database } : undefined;
  } catch (error) {
    if (error instanceof URIError) throw error;
    return undefined;
  }
}
