/** What is served, in words for a terminal. */
import { describe, PROBLEM_LIMIT, type Snapshot } from "./ledger/file/snapshot.js";
import type { Inventory } from "./registry/registry.js";

/** The text of a start: what is served, and one request to try. */
export function describeStart(url: string, source: string, inventory: Inventory | undefined): string {
  if (inventory === undefined) {
    const later = `It answers 503 until the first snapshot of the ledger has been taken; see ${url}/readyz`;
    return [`offledger follows ${source} and listens at ${url}`, "", later, ""].join("\n");
  }
  return [
    `offledger serves ${source} at ${url}`,
    "",
    ...describeInventory(inventory),
    ...toTry(url, inventory),
    "",
  ].join("\n");
}

/** The text of `offledger check`. */
export function describeCheck(path: string, snapshot: Snapshot, inventory: Inventory | undefined): string {
  const { contracts, ignored, problems } = snapshot;
  if (inventory === undefined) {
    const more = problems.length < PROBLEM_LIMIT ? [] : [`(no more than ${PROBLEM_LIMIT} are listed)`];
    return [`${path} cannot be served:`, describe(path, problems), ...more, ""].join("\n");
  }
  return [
    `${path} would serve ${contracts.length} contracts; ${ignored} elements are of no use to a request and left out`,
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
  for (const { party, instruments } of registrars) {
    const [identifier] = instruments;
    if (identifier === undefined) continue;
    const { source, id, scheme } = identifier;
    const body = JSON.stringify({ registrar: party, instrumentIdentifier: { source, id, scheme } });
    return [
      "",
      "Try:",
      `  curl ${url}/api/utilities/v0/contract/instrument-configuration \\`,
      `    -H 'Content-Type: application/json' \\`,
      `    -d '${body.replaceAll("'", "'\\''")}'`,
    ];
  }
  return [];
}
