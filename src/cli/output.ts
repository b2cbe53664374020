/** What is served, in words for a terminal. */
import { formatProblems, MAX_PROBLEMS, type Snapshot } from "../ledger/file/snapshot.js";
import { isStored } from "../domain/contract.js";
import type { Inventory } from "../registry/sdk/registry.js";

/** The text of a start: what is served, and one request to try. */
export function describeStart(
  url: string,
  source: string,
  notReadyReason: string | undefined,
  inventory: Inventory | undefined,
): string {
  if (inventory === undefined) {
    const state = notReadyReason === undefined ? "It is ready" : `It is not ready yet: ${notReadyReason}`;
    return [`offledger follows ${source} and listens at ${url}`, "", `${state}; see ${url}/readyz`, ""].join("\n");
  }
  return [
    `offledger serves ${source} at ${url}`,
    "",
    ...describeInventory(inventory),
    "",
    `Every operation, to read and to try: ${url}/docs`,
    ...toTry(url, inventory),
    "",
  ].join("\n");
}

/** The text of `offledger check`. */
export function describeCheck(path: string, snapshot: Snapshot, inventory: Inventory | undefined): string {
  const { contracts, ignored, problems } = snapshot;
  const held = contracts.filter(isStored).length;
  const counted = contracts.length - held;
  if (inventory === undefined) {
    const more = problems.length < MAX_PROBLEMS ? [] : [`(no more than ${MAX_PROBLEMS} are listed)`];
    return [`${path} cannot be served:`, formatProblems(path, problems), ...more, ""].join("\n");
  }
  return [
    `${path} would serve ${held} contracts; ${ignored} elements are of no use to a request and left out`,
    ...(counted === 0 ? [] : [`${counted} holdings are counted and not kept`]),
    "",
    ...describeInventory(inventory),
    "",
  ].join("\n");
}

function describeInventory({ registrars, counts, warnings }: Inventory): string[] {
  return [
    ...(registrars.length === 0 ? ["no registrar is served: the file holds no factory"] : []),
    ...registrars.flatMap(({ party, instruments }) => [
      `registrar ${party}`,
      ...instruments.map(({ id, scheme }) => `  instrument ${id} (${scheme})`),
    ]),
    ...counts.map(({ qualifiedName, count }) => `${String(count).padStart(8)} ${qualifiedName}`),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
}

function toTry(url: string, { registrars }: Inventory): string[] {
  const [first] = registrars;
  if (first === undefined) return [];
  // A party is any text; in quotes it is safe in a shell.
  const party = encodeURI(first.party).replaceAll("'", "%27").replaceAll(/[?#]/g, encodeURIComponent);
  return ["", "Try:", `  curl '${url}/api/token-standard/v0/registrars/${party}/registry/metadata/v1/instruments'`];
}
