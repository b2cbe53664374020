import type { JsonObject, JsonValue } from "../../util/json.js";
import type { PackageCatalog, PackageVersion } from "../../domain/ledger.js";
import { requireObject, requireString } from "../json-fields.js";
import { LedgerError, readable } from "./errors.js";
import { callParticipant, type Endpoint } from "./http.js";

const PATH = "/v2/package-vetting/list";

/** A page counts participants, each with all its packages or with those asked for. 100 is the participant's maximum. */
const PAGE_SIZE_OF_ALL = 10;
const PAGE_SIZE_OF_SOME = 100;
const MAX_PAGES = 100;

/** The participant does not let us ask, or does not have the call. */
const WITHOUT_ANSWER: ReadonlySet<number | undefined> = new Set([403, 404, 405, 501]);

/** The packages that the participants of our synchronizers have vetted. Throws LedgerError. */
export class ParticipantPackages implements PackageCatalog {
  constructor(private readonly endpoint: Endpoint) {}

  async versions(ids: Iterable<string> = []): Promise<ReadonlyMap<string, PackageVersion> | undefined> {
    const packageIds = [...new Set(ids)];
    const found = new Map<string, PackageVersion>();
    let pageToken = "";
    for (let page = 0; page < MAX_PAGES; page++) {
      const answer = await this.#page(packageIds, pageToken);
      if (answer === undefined) return undefined;
      const { entries, nextPageToken } = answer;
      for (const { packages } of entries) addVersions(packages, found);
      const hasAll = packageIds.length > 0 && packageIds.every((id) => found.has(id));
      // The last page has a token too. The one after it is empty.
      if (hasAll || entries.length === 0 || nextPageToken === "") break;
      pageToken = nextPageToken;
    }
    return found;
  }

  async #page(packageIds: readonly string[], pageToken: string): Promise<Page | undefined> {
    const request = {
      packageMetadataFilter: { packageIds: [...packageIds], packageNamePrefixes: [] },
      topologyStateFilter: { participantIds: [], synchronizerIds: [] },
      pageToken,
      pageSize: packageIds.length === 0 ? PAGE_SIZE_OF_ALL : PAGE_SIZE_OF_SOME,
    };
    try {
      return readPage(await callParticipant(this.endpoint, "POST", PATH, request));
    } catch (error) {
      if (error instanceof LedgerError && WITHOUT_ANSWER.has(error.details.status)) return undefined;
      throw error;
    }
  }
}

interface Page {
  readonly entries: readonly JsonObject[];
  readonly nextPageToken: string;
}

const readPage = (body: JsonValue): Page =>
  readable(`the participant's answer to ${PATH} cannot be read`, () => {
    const { vettedPackages, nextPageToken = "" } = requireObject(body, "the answer");
    if (!Array.isArray(vettedPackages)) throw new Error("vettedPackages must be a list");
    const entries = vettedPackages.map((entry) => requireObject(entry, "vettedPackages[]"));
    for (const { packages } of entries) if (!Array.isArray(packages)) throw new Error("packages must be a list");
    return { entries, nextPageToken: typeof nextPageToken === "string" ? nextPageToken : "" };
  });

/** A package that our own participant does not have is listed without its name and version. */
function addVersions(packages: JsonValue | undefined, found: Map<string, PackageVersion>): void {
  if (!Array.isArray(packages)) return;
  for (const one of packages) {
    const fields = requireObject(one, "package");
    const { packageName: name, packageVersion: version } = fields;
    if (typeof name !== "string" || typeof version !== "string" || name === "" || version === "") continue;
    found.set(requireString(fields, "packageId"), { name, version });
  }
}
