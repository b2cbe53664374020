import type { Inventory } from "../sdk/registry.js";

/** The inventory of a mirrored ledger, with a warning where its parties see too little. */
export function withPartyWarnings(inventory: Inventory, parties: readonly string[]): Inventory {
  const found = partyWarnings(inventory, parties);
  return found.length === 0 ? inventory : { ...inventory, warnings: [...found, ...inventory.warnings] };
}

/** A sentence for each problem. `parties` are those of OFFLEDGER_LEDGER_PARTIES. */
export function partyWarnings({ counts, operators }: Inventory, parties: readonly string[]): readonly string[] {
  const names = parties.join(", ");
  if (counts.length === 0) {
    return [
      `OFFLEDGER_LEDGER_PARTIES: no contract of the registry is visible to ${names}. Check the ids of the parties, and that ` +
        "this participant hosts them.",
    ];
  }
  // Only a registry with an operator lists them.
  if (operators === undefined || operators.some((operator) => parties.includes(operator))) return [];
  const named = operators.length === 0 ? "" : `, which is ${operators.join(", ")}`;
  return [
    `OFFLEDGER_LEDGER_PARTIES: none of ${names} is the operator of a visible contract${named}. Transfer preapprovals and ` +
      "the credentials of the credential app are invisible: direct transfers become offers, and credentials are missing. " +
      "Read the contracts of the operator too.",
  ];
}
