/** The few names of the generated ledgers: few, so that contracts and requests meet. */
import fc from "fast-check";
import { NO_OWNER } from "./accounts.js";

/** The time of every request, in milliseconds since 1970. */
export const NOW = Date.parse("2026-06-01T00:00:00Z");

/** The first two have contracts; the third has no factory. */
export const registrars = ["gold::1220", "silver::1220", "tin::1220"] as const;
export const synchronizers = ["sync-A", "sync-B"] as const;
export const operators = ["operator::1220", "operator-2::1220"] as const;
export const providers = ["provider::1220", "provider-2::1220"] as const;
export const issuers = ["issuer::1220", "gold::1220"] as const;
export const traders = ["alice::1220", "bob::1220", "carol::1220"] as const;
/** GBP has no configuration of its own. 840 is an additional identifier. */
export const instruments = ["USD", "EUR", "840", "GBP"] as const;
export const claims = ["holds", "resides", "adult"] as const;

export const registrar = fc.oneof(
  { weight: 6, arbitrary: fc.constant(registrars[0]) },
  { weight: 2, arbitrary: fc.constant(registrars[1]) },
);
/** For requests: also one that is not served. */
export const namedRegistrar = fc.oneof(
  { weight: 20, arbitrary: registrar },
  { weight: 1, arbitrary: fc.constant(registrars[2]) },
);
export const operator = fc.oneof(
  { weight: 15, arbitrary: fc.constant(operators[0]) },
  { weight: 1, arbitrary: fc.constant(operators[1]) },
);
export const provider = fc.oneof(
  { weight: 10, arbitrary: fc.constant(providers[0]) },
  { weight: 1, arbitrary: fc.constant(providers[1]) },
);
export const instrument = fc.oneof(
  { weight: 6, arbitrary: fc.constant("USD") },
  { weight: 3, arbitrary: fc.constant("EUR") },
  { weight: 1, arbitrary: fc.constantFrom("840", "GBP") },
);
export const anyIssuer = fc.oneof(
  { weight: 3, arbitrary: fc.constant<string>(issuers[0]) },
  { weight: 1, arbitrary: fc.constant<string>(issuers[1]) },
);
export const trader = fc.constantFrom(...traders);
/** A party that may also be the registrar, or the name of the special account. */
export const party = fc.oneof(
  { weight: 16, arbitrary: trader },
  { weight: 1, arbitrary: fc.constantFrom(...registrars) },
  { weight: 1, arbitrary: fc.constant(NO_OWNER) },
);
/** True once in `n` times. */
export const rarely = (n: number): fc.Arbitrary<boolean> =>
  fc.oneof({ weight: n - 1, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
