/** The APIs of the token standard that a registry lists. */
import { type InterfaceKind, TOKEN_INTERFACES } from "../../domain/token-interfaces.js";
import type { ApiVersion, SupportedApis } from "./registry.js";

/** Those with an HTTP side besides metadata, which has one version. */
const SERVED = ["transfer-instruction", "allocation", "allocation-instruction"];

/** The packages of a version that have no HTTP side: wallets take a token without them for one that cannot be held. */
const PACKAGES: Readonly<Record<ApiVersion, readonly string[]>> = {
  v1: ["holding", "allocation-request"],
  v2: ["holding", "allocation-request", "transfer-events"],
};
const VERSIONS = ["v1", "v2"] as const;

/** All APIs of these versions, with the minor versions of the published documents. */
export function tokenStandardApis(...versions: readonly ApiVersion[]): SupportedApis {
  const names = versions.flatMap((version) => namesOf([...SERVED, ...PACKAGES[version]], version));
  return { "splice-api-token-metadata-v1": 2, ...Object.fromEntries(names.map((name) => [name, 1])) };
}

/** The API of each kind of interface; holdings have no HTTP side. */
const API_OF: Readonly<Record<InterfaceKind, string | undefined>> = {
  "transfer-factory": "transfer-instruction",
  "transfer-instruction": "transfer-instruction",
  "allocation-factory": "allocation-instruction",
  "allocation-instruction": "allocation-instruction",
  allocation: "allocation",
  "settlement-factory": "allocation",
  holding: undefined,
};

/** The APIs of the interfaces that contracts implement, named as `allocation/2`. */
export function apisOfInterfaces(names: readonly string[]): SupportedApis {
  const served = TOKEN_INTERFACES.filter(({ kind, version }) => names.includes(`${kind}/${version}`)).flatMap(
    ({ kind, version }) => (API_OF[kind] === undefined ? [] : `splice-api-token-${API_OF[kind]}-v${version}`),
  );
  return { "splice-api-token-metadata-v1": 2, ...Object.fromEntries(served.map((name) => [name, 1])) };
}

/** With the packages that have no HTTP side, of each version that is listed. */
export function withPackages(apis: SupportedApis): SupportedApis {
  const listed = VERSIONS.filter((version) => namesOf(SERVED, version).some((name) => name in apis));
  const names = listed.flatMap((version) => namesOf(PACKAGES[version], version));
  return names.every((name) => name in apis)
    ? apis
    : { ...Object.fromEntries(names.map((name) => [name, 1])), ...apis };
}

/** What is left for wallets from which version 2 is hidden. */
export const withoutVersion2 = (apis: SupportedApis): SupportedApis =>
  Object.fromEntries(Object.entries(apis).filter(([name]) => !name.endsWith("-v2")));

const namesOf = (apis: readonly string[], version: ApiVersion): string[] =>
  apis.map((api) => `splice-api-token-${api}-${version}`);
