import type { App } from "../app/app.js";
import type { ParticipantCheck } from "../app/check-participant.js";
import { formatProblems, MAX_PROBLEMS, type Snapshot } from "../ledger/file/snapshot.js";
import { type Contract, type CountedOnly, isStored } from "../domain/contract.js";
import type { Inventory } from "../registry/sdk/registry.js";
import { instrumentsCommand } from "./example-requests.js";
import { formatInventory } from "./format/inventory.js";

export function print(text: string): void {
  process.stdout.write(text);
}

/** What a started service serves, and a request to try. */
export function formatStart({ url, source, notReadyReason, inventory }: App): string {
  if (inventory === undefined) {
    const state = notReadyReason === undefined ? "Ready" : `Not ready yet: ${notReadyReason}`;
    return [`offledger follows ${source} and listens at ${url}`, "", `${state}; see ${url}/readyz`, ""].join("\n");
  }
  return `offledger serves ${source} at ${url}\n${formatFirstInventory(url, inventory)}`;
}

/** What a service at this URL serves, which it may know only some time after its start. */
export function formatFirstInventory(url: string, inventory: Inventory): string {
  return [
    "",
    ...formatInventory(inventory),
    "",
    `API documentation: ${url}/docs`,
    ...formatExample(url, inventory),
    "",
  ].join("\n");
}

/** The result of `offledger check` for a file. */
export function formatSnapshotCheck(path: string, snapshot: Snapshot, inventory: Inventory | undefined): string {
  const { contracts, ignored, problems } = snapshot;
  if (inventory === undefined) {
    const more = problems.length < MAX_PROBLEMS ? [] : [`(only the first ${MAX_PROBLEMS} problems are listed)`];
    return [`${path} cannot be served:`, formatProblems(path, problems), ...more, ""].join("\n");
  }
  const { stored, counted } = countContracts(contracts);
  return [
    `${path} can be served: ${stored} contracts, ${ignored} unused elements skipped`,
    ...counted,
    "",
    ...formatInventory(inventory),
    "",
  ].join("\n");
}

/** The result of `offledger check` for a participant. */
export function formatParticipantCheck({ name, snapshot, inventory }: ParticipantCheck): string {
  const { offset, contracts, unreadable } = snapshot;
  const { stored, counted } = countContracts(contracts);
  const reasons = unreadable
    .slice(0, MAX_PROBLEMS)
    .map(({ contractId = "?", templateId = "?", reason }) => `  ${contractId} of ${templateId}: ${reason}`);
  const more = unreadable.length > MAX_PROBLEMS ? [`  … and ${unreadable.length - MAX_PROBLEMS} more`] : [];
  return [
    `${name} can be served: ${stored} contracts at offset ${offset}`,
    ...counted,
    ...(unreadable.length === 0 ? [] : [`${unreadable.length} contracts cannot be read, and are left out:`]),
    ...reasons,
    ...more,
    "",
    ...formatInventory(inventory),
    "",
  ].join("\n");
}

function countContracts(contracts: readonly (Contract | CountedOnly)[]): { stored: number; counted: string[] } {
  const stored = contracts.filter(isStored).length;
  const counted = contracts.length - stored;
  return {
    stored,
    counted: counted === 0 ? [] : [`${counted} holdings are counted for the total supply, not stored`],
  };
}

/** A curl command; empty without a registrar. */
function formatExample(url: string, { registrars }: Inventory): string[] {
  const [first] = registrars;
  if (first === undefined) return [];
  return ["", "Try:", `  ${instrumentsCommand(url, first.party)}`];
}
