/** The packages that participants have vetted, by pages. */
import type { JsonValue } from "../../src/domain/json.js";
import { refusal } from "./errors.js";
import { array, long, object, optional, text } from "./json-decoding.js";

/** One participant on one synchronizer. A page has all its packages that pass the filter. */
export interface Vetted {
  readonly participantId: string;
  readonly synchronizerId: string;
  readonly packages: readonly VettedPackage[];
}

/** Name and version are absent if this participant does not have the package. */
export interface VettedPackage {
  readonly packageId: string;
  readonly packageName?: string;
  readonly packageVersion?: string;
}

const MAX_PAGE_SIZE = 100;

export function vettedPackages(vetted: readonly Vetted[], body: JsonValue): object {
  const { packageMetadataFilter, pageToken, pageSize } = object(body, "");
  const filter = optional(packageMetadataFilter, "packageMetadataFilter", object) ?? {};
  const ids = optional(filter.packageIds, "packageIds", texts) ?? [];
  const prefixes = optional(filter.packageNamePrefixes, "packageNamePrefixes", texts) ?? [];
  const size = optional(pageSize, "pageSize", long) ?? 0;
  if (size > MAX_PAGE_SIZE) throw unreadable();
  const passes = ({ packageId, packageName = "" }: VettedPackage) =>
    (ids.length === 0 && prefixes.length === 0) ||
    ids.includes(packageId) ||
    prefixes.some((prefix) => packageName.startsWith(prefix));
  const entries = vetted
    .map((one) => ({ ...one, packages: one.packages.filter(passes) }))
    .filter(({ packages }) => packages.length > 0);
  const from = positionOf(optional(pageToken, "pageToken", text) ?? "");
  const page = entries.slice(from, from + (size === 0 ? MAX_PAGE_SIZE : size));
  return {
    vettedPackages: page.map(({ packages, ...entry }) => ({
      packages: packages.map(({ packageId, packageName = null, packageVersion = null }) => ({
        packageId,
        validFromInclusive: null,
        validUntilExclusive: null,
        packageName,
        packageVersion,
      })),
      ...entry,
      topologySerial: 7,
    })),
    // The last page has a token too. The one after it is empty.
    nextPageToken: page.length === 0 ? "" : Buffer.from(`from ${from + page.length}`).toString("base64"),
  };
}

const texts = (value: JsonValue, where: string): string[] => array(value, where).map((one) => text(one, where));

function positionOf(token: string): number {
  if (token === "") return 0;
  const [, position] = /^from (\d+)$/.exec(Buffer.from(token, "base64").toString()) ?? [];
  if (position === undefined) throw unreadable();
  return Number(position);
}

const unreadable = () => refusal("PROTO_DESERIALIZATION_FAILURE", "Deserialization of protobuf message failed");
