import { postgresUrl } from "../parsers.js";
import { count, optional } from "./setting.js";

export const databaseSettings = {
  databaseUrl: optional("database-url", {
    accepts: "a URL that starts with postgres:// or postgresql://",
    description: "PostgreSQL database that stores the contracts, instead of the memory of this process",
    parse: postgresUrl,
    isSecret: true,
  }),
  databaseConnections: count(
    "database-connections",
    { min: 2, max: 500, default: 10 },
    "maximum database connections for queries; each process uses 2 more that are long-lived, and 3 more during a snapshot",
  ),
  cacheMegabytes: count(
    "cache-megabytes",
    { min: 1, max: 100_000, default: 256 },
    "memory for cached contracts of the database, in megabytes",
  ),
};
