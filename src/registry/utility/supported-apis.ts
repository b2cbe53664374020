import { packageIdOf } from "../../domain/contract.js";
import type { RequestContext, SupportedApis } from "../sdk/registry.js";
import { compareVersions } from "./contexts/versions.js";
import { requireFactories } from "./operations/require.js";

/** The minor versions are those of the published documents. holding, allocation-request and events have no HTTP side. */
export const SUPPORTED_APIS: SupportedApis = {
  "splice-api-token-metadata-v1": 2,
  "splice-api-token-holding-v2": 1,
  "splice-api-token-transfer-instruction-v1": 1,
  "splice-api-token-transfer-instruction-v2": 1,
  "splice-api-token-allocation-v1": 1,
  "splice-api-token-allocation-v2": 1,
  "splice-api-token-allocation-instruction-v1": 1,
  "splice-api-token-allocation-instruction-v2": 1,
  "splice-api-token-allocation-request-v2": 1,
  "splice-api-token-transfer-events-v2": 1,
};

const V1_APIS: SupportedApis = Object.fromEntries(
  Object.entries(SUPPORTED_APIS).filter(([name]) => !name.endsWith("-v2")),
);

/** The first version of utility-registry-app-v0 whose factories implement version 2 of the token standard. */
const FIRST_WITH_V2 = "0.9.0";

/**
 * Without version 2 if all factories of the registrar are older than it. Throws "not-found" if there are none.
 * `versions` is by package id; a package that is not in it counts as current.
 */
export function supportedApisOf(versions: ReadonlyMap<string, string>) {
  return ({ view }: RequestContext, registrar: string): SupportedApis => {
    const isOld = requireFactories(view, registrar).every(({ templateId }) => {
      const version = versions.get(packageIdOf(templateId));
      return version !== undefined && compareVersions(version, FIRST_WITH_V2) < 0;
    });
    return isOld ? V1_APIS : SUPPORTED_APIS;
  };
}
