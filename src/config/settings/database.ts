/** The database that processes share. */
import { databaseUrl, wholeNumber } from "../parsers.js";
import { named, optional, type Setting } from "./setting.js";

export const databaseSettings = {
  databaseUrl: optional(
    "database-url",
    "a URL that begins with postgres:// or postgresql://",
    "PostgreSQL database for the contracts, in place of the memory of this process",
    databaseUrl,
    { isSecret: true },
  ),
  databaseConnections: {
    ...named("database-connections"),
    accepts: "a whole number from 2 to 500",
    description:
      "most connections to the database for questions; two more are for what lasts, and three for a snapshot",
    default: 10,
    parse: wholeNumber(2, 500),
  } satisfies Setting<number>,
  cacheMegabytes: {
    ...named("cache-megabytes"),
    accepts: "a whole number from 1 to 100000",
    description: "memory for what is asked most of a database",
    default: 256,
    parse: wholeNumber(1, 100_000),
  } satisfies Setting<number>,
};
