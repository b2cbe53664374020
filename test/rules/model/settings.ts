/** The settings of the registry that change its answers, and the time of a request. */
import type { Limits } from "./choice-arguments.js";

export interface Settings {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly limits: Limits;
  /** Whether a party without the required credentials is 404. */
  readonly credentialsRequired: boolean;
  /** Whether contexts have the entries for app rewards: for all, or for contracts of older packages. */
  readonly rewards: "off" | "on" | { readonly appPackageBefore: string };
  /** Versions by package id; a package that is not listed counts as current. */
  readonly packageVersions: ReadonlyMap<string, string>;
  /**
   * Whether the operator has configured an entry for the blocklist, under the key `blocklist`. Here it is the transfer
   * rule, since the names of the real contracts are not public.
   */
  readonly blocklist: boolean;
  /** Whether a settlement with an allocation that was never seen is 404. */
  readonly rejectsUnknown: boolean;
}
