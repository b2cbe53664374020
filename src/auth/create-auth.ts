import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting-error.js";
import type { ServiceBinding } from "../service/service-binding.js";
import type { Guard } from "../transport/server.js";
import { bearerAuthentication } from "./bearer-authentication.js";
import { protectedOperations } from "./protected-operations.js";

/** Tokens where the configuration asks for them: without, nobody looks at one. Throws SettingError. */
export function createAuth(config: Config, bindings: readonly ServiceBinding[], now: () => number): Guard[] {
  const { authJwksUrl: jwksUrl, authIssuer: issuer, authAudience: audience, authAlgorithms: algorithms } = config;
  // The check of the settings has seen to it that there are all three or none.
  if (jwksUrl === undefined || issuer === undefined || audience === undefined) return [];
  if (jwksUrl.username !== "" || jwksUrl.password !== "") {
    throw new SettingError("OFFLEDGER_AUTH_JWKS_URL", "an http or https URL", "it may hold no name and no password");
  }
  const operations = protectedOperations(bindings, config.authOperations);
  return [bearerAuthentication({ jwksUrl, issuer, audience, algorithms, operations, now })];
}
