import { postgresConformance } from "./postgres-conformance.js";

postgresConformance("PostgreSQL", 10_000_000);
