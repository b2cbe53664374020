/** What is served, in words for a terminal. */
import { describe, PROBLEM_LIMIT, type Snapshot } from "./ledger/file/snapshot.js";
import { isHeld } from "./store/store.js";
import type { Inventory } from "./registry/registry.js";

/** The text of a start: what is served, and one request to try. */
export function describeStart(
  url: string,
  source: string,
  unreadiness: string | undefined,
  inventory: Inventory | undefined,
): string {
  if (inventory === undefined) {
    const state = unreadiness === undefined ? "It is ready" : `It is not ready yet: ${unreadiness}`;
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
  const held = contracts.filter(isHeld).length;
  const counted = contracts.length - held;
  if (inventory === undefined) {
    const more = problems.length < PROBLEM_LIMIT ? [] : [`(no more than ${PROBLEM_LIMIT} are listed)`];
    return [`${path} cannot be served:`, describe(path, problems), ...more, ""].join("\n");
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
    ...counts.map(({ entity, count }) => `${String(count).padStart(8)} ${entity}`),
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
