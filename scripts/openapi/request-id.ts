/** The header of every response by which it is found in the log; docs/observability.md says more. */
import type { JsonObject } from "../../src/util/json.js";

const NAME = "X-Request-Id";

/** `components.headers`. */
export const sharedHeaders: JsonObject = {
  [NAME]: {
    description:
      "The id of the request in the operator's log: the `X-Request-Id` of the request if it has 1 to 128 letters, digits, " +
      "dots, underscores and hyphens, else one made by the service.",
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
  },
};

/** In the `headers` of every response. */
export const requestIdHeader: JsonObject = { [NAME]: { $ref: `#/components/headers/${NAME}` } };
