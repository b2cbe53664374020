import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting-error.js";
import type { DescService } from "@bufbuild/protobuf";
import type { Guard } from "../transport/server.js";
import { bearerAuthentication } from "./bearer-authentication.js";
import { protectedOperations } from "./protected-operations.js";

/** Creates the guard that verifies tokens; none without an issuer. Throws SettingError. `now` is in ms since 1970. */
export function createAuth(config: Config, services: readonly DescService[], now: () => number): Guard[] {
  const { authJwksUrl: jwksUrl, authIssuer: issuer, authAudience: audience, authAlgorithms: algorithms } = config;
  // The configuration sets all three or none.
  if (jwksUrl === undefined || issuer === undefined || audience === undefined) return [];
  if (jwksUrl.username !== "" || jwksUrl.password !== "") {
    throw new SettingError("OFFLEDGER_AUTH_JWKS_URL", "an http or https URL", "it must not contain credentials");
  }
  const names = services.flatMap(({ typeName, methods }) => methods.map(({ name }) => `${typeName}/${name}`));
  const operations = protectedOperations(names, config.authOperations);
  return [bearerAuthentication({ jwksUrl, issuer, audience, algorithms, operations, now })];
}
