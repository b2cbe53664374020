import type { RequestContext, SupportedApis } from "../sdk/registry.js";
import type { PackageVersions } from "./contexts/versions.js";
import { hasVersion2 } from "./operations/factory.js";
import { requireFactories } from "./operations/require.js";

/** The minor versions are those of the published documents. holding, allocation-request and transfer-events have no HTTP side. */
export const SUPPORTED_APIS: SupportedApis = {
  "splice-api-token-metadata-v1": 2,
  "splice-api-token-holding-v1": 1,
  "splice-api-token-holding-v2": 1,
  "splice-api-token-transfer-instruction-v1": 1,
  "splice-api-token-transfer-instruction-v2": 1,
  "splice-api-token-allocation-v1": 1,
  "splice-api-token-allocation-v2": 1,
  "splice-api-token-allocation-instruction-v1": 1,
  "splice-api-token-allocation-instruction-v2": 1,
  "splice-api-token-allocation-request-v1": 1,
  "splice-api-token-allocation-request-v2": 1,
  "splice-api-token-transfer-events-v2": 1,
};

const V1_APIS: SupportedApis = Object.fromEntries(
  Object.entries(SUPPORTED_APIS).filter(([name]) => !name.endsWith("-v2")),
);

/** Without version 2 if no factory of the registrar, in any group, has it. Throws "not-found" if there are none. */
export const supportedApisOf =
  (versions: PackageVersions) =>
  ({ view }: RequestContext, registrar: string): SupportedApis =>
    requireFactories(view, registrar).some((factory) => hasVersion2(factory, versions)) ? SUPPORTED_APIS : V1_APIS;
