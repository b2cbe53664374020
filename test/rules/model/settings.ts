/** The settings of the registry that change its answers, and the time of a request. */
import type { Limits } from "./choice-arguments.js";

export interface Settings {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly limits: Limits;
  /** Whether a party without the required credentials is 404. */
  readonly credentialsRequired: boolean;
  /** Whether contexts have the entries for app rewards. */
  readonly rewards: boolean;
}
