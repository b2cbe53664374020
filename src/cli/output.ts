import type { App } from "../app/app.js";
import { formatProblems, MAX_PROBLEMS, type Snapshot } from "../ledger/file/snapshot.js";
import { isStored } from "../domain/contract.js";
import type { Inventory } from "../registry/sdk/registry.js";

export function print(text: string): void {
  process.stdout.write(text);
}

/** What a started service serves, and a request to try. */
export function formatStart({ url, source, notReadyReason, inventory }: App): string {
  if (inventory === undefined) {
    const state = notReadyReason === undefined ? "Ready" : `Not ready yet: ${notReadyReason}`;
    return [`offledger follows ${source} and listens at ${url}`, "", `${state}; see ${url}/readyz`, ""].join("\n");
  }
  return [
    `offledger serves ${source} at ${url}`,
    "",
    ...formatInventory(inventory),
    "",
    `API documentation: ${url}/docs`,
    ...formatExample(url, inventory),
    "",
  ].join("\n");
}

/** The result of `offledger check`. */
export function formatCheck(path: string, snapshot: Snapshot, inventory: Inventory | undefined): string {
  const { contracts, ignored, problems } = snapshot;
  if (inventory === undefined) {
    const more = problems.length < MAX_PROBLEMS ? [] : [`(only the first ${MAX_PROBLEMS} problems are listed)`];
    return [`${path} cannot be served:`, formatProblems(path, problems), ...more, ""].join("\n");
  }
  const stored = contracts.filter(isStored).length;
  const counted = contracts.length - stored;
  return [
    `${path} can be served: ${stored} contracts, ${ignored} unused elements skipped`,
    ...(counted === 0 ? [] : [`${counted} holdings are counted for the total supply, not stored`]),
    "",
    ...formatInventory(inventory),
    "",
  ].join("\n");
}

function formatInventory({ registrars, counts, warnings }: Inventory): string[] {
  return [
    ...(registrars.length === 0 ? ["no registrar is served: the file contains no factory"] : []),
    ...registrars.flatMap(({ party, instruments }) => [
      `registrar ${party}`,
      ...instruments.map(({ id, scheme }) => `  instrument ${id} (${scheme})`),
    ]),
    ...counts.map(({ qualifiedName, count }) => `${String(count).padStart(8)} ${qualifiedName}`),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
}

/** A curl command; empty without a registrar. */
function formatExample(url: string, { registrars }: Inventory): string[] {
  const [first] = registrars;
  if (first === undefined) return [];
  // A party id may contain any character: encode what a URL and single quotes of a shell do not allow.
  const party = encodeURI(first.party).replaceAll("'", "%27").replaceAll(/[?#]/g, encodeURIComponent);
  return ["", "Try:", `  curl '${url}/api/token-standard/v0/registrars/${party}/registry/metadata/v1/instruments'`];
}
