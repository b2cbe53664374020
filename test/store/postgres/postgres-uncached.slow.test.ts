import { postgresConformance } from "./postgres-conformance.js";

postgresConformance("PostgreSQL without a cache", 0);
