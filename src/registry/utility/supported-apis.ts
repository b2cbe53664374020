import { packageIdOf } from "../../domain/contract.js";
import type { RequestContext, SupportedApis } from "../sdk/registry.js";
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

/** Versions such as `0.10.1` by package id; a package that is not in it counts as current. */
export type PackageVersions = ReadonlyMap<string, string>;

/** Without version 2 if all factories of the registrar are older than it. Throws "not-found" if there are none. */
export function supportedApisOf(versions: PackageVersions) {
  return ({ view }: RequestContext, registrar: string): SupportedApis => {
    const isOld = requireFactories(view, registrar).every(({ templateId }) => {
      const version = versions.get(packageIdOf(templateId));
      return version !== undefined && isOlder(version, FIRST_WITH_V2);
    });
    return isOld ? V1_APIS : SUPPORTED_APIS;
  };
}

/** Compares by number: 0.10.0 is newer than 0.9.0. A missing number counts as 0. */
function isOlder(version: string, than: string): boolean {
  const numbers = version.split(".").map(Number);
  const others = than.split(".").map(Number);
  for (let at = 0; at < Math.max(numbers.length, others.length); at++) {
    const difference = (numbers[at] ?? 0) - (others[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
