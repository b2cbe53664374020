/** Parties and contracts of generated registries, in memory and in a database that mirrors a ledger. */
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, onTestFinished, test } from "vitest";
import { play } from "../../scripted-participant/elements.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import type { Config } from "../../../src/config/config.js";
import { element, parties, payload } from "../../fixtures/elements.js";
import { type ServiceWithConsole, serviceWithConsole } from "../../fixtures/observed-service.js";
import { freshDatabase } from "../../fixtures/postgres.js";
import { registryOf } from "../../fixtures/registries.js";
import { until } from "../../fixtures/wait.js";
import { ask } from "./clients.js";

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/** Alice has more of everything than is listed; bob and carol have a few among many. Carol lacks a credential. */
const generated: readonly JsonObject[] = registryOf(
  {},
  ...times(600, (at) =>
    element(
      "Credential",
      `credential-${at}`,
      payload.credential(at % 2 === 0 ? "alice" : `holder-${at}`, ["holds=USD"]),
    ),
  ),
  ...times(250, (at) => element("TransferOffer", `offer-${at}`, payload.offer("alice", "bob", "USD", `locked-${at}`))),
  ...times(250, (at) => element("Holding", `locked-${at}`, payload.lockedHolding("alice", "USD"))),
  ...times(201, (at) => element("TransferPreapproval", `preapproval-${at}`, payload.preapproval("alice", []))),
  element("TransferPreapproval", "for-carol", payload.preapproval("carol", ["USD", "EUR"])),
  element("TransferOffer", "to-carol", payload.offer("bob", "carol", "USD", "locked-carol")),
  element("Holding", "locked-carol", payload.lockedHolding("bob", "USD")),
  element("MintRequest", "mint-carol", payload.mint("carol", "USD")),
  element("DvpLegAllocation", "leg-carol", payload.allocation("carol", "nobody", "USD", "gone")),
);

async function database(): Promise<Partial<Config>> {
  const made = await freshDatabase();
  onTestFinished(() => made.drop());
  return { databaseUrl: new URL(made.url) };
}

async function mirroring(store: Partial<Config>): Promise<ServiceWithConsole & { readonly ledger: ScriptedLedger }> {
  const ledger = new ScriptedLedger({ synchronizerId: "sync-A", clock: () => new Date("2026-06-01T00:00:00Z") });
  play(ledger, generated, { stakeholders: [parties.operator] });
  const participant = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  const ledgerParties = [parties.operator];
  const service = await serviceWithConsole({ ...store, ledgerUrl: new URL(participant.url), ledgerParties });
  onTestFinished(() => service.close());
  return { ...service, ledger };
}

interface Found {
  readonly contract: { readonly contractId: string };
  readonly causes: readonly { readonly code: string; readonly party: string }[];
  readonly completion: { readonly operation: string };
}

describe.each([
  ["memory", async () => ({})],
  ["a database", database],
])("in %s", (_name, store) => {
  test("a party is found among many contracts, with what its instructions lack", async () => {
    const { consoleUrl } = await mirroring(await store());
    const carol = await ask(consoleUrl, "getParty", { party: "carol" });
    expect(carol).toMatchObject({
      credentials: [],
      preapprovals: [{ contract: { contractId: "for-carol" }, instruments: ["USD", "EUR"] }],
      incomplete: false,
    });
    const instructions = new Map(
      (carol["instructions"] as unknown as Found[]).map((found) => [found.contract.contractId, found]),
    );
    expect([...instructions.keys()].toSorted()).toEqual(["leg-carol", "mint-carol", "to-carol"]);
    expect(instructions.get("to-carol")?.causes).toMatchObject([{ code: "credential-missing", party: "carol" }]);
    // The leg's locked holding is gone, too.
    const causes = instructions.get("leg-carol")?.causes ?? [];
    expect(causes.map(({ party }) => party)).toContain("carol");
    expect(causes.length).toBeGreaterThan(1);

    const alice = await ask(consoleUrl, "getParty", { party: "alice" });
    for (const name of ["credentials", "preapprovals", "instructions"]) expect(alice[name]).toHaveLength(200);
    expect(alice["incomplete"]).toBe(true);
    for (const { causes: none } of alice["instructions"] as unknown as Found[]) expect(none).toEqual([]);
  });

  test("a contract is found by its id, until it is archived", async () => {
    const { consoleUrl, ledger, source } = await mirroring(await store());
    const get = () => ask(consoleUrl, "getContract", { contractId: "to-carol" });
    const found = await get();
    expect(found).toMatchObject({
      contract: { contractId: "to-carol", packageName: "utility-registry-app-v0", packageVersion: "" },
      payload: { transfer: { sender: "bob", receiver: "carol" } },
      archived: false,
    });
    expect((found["calls"] as unknown as Found["completion"][]).map(({ operation }) => operation)).toEqual(
      ["Accept", "Reject", "Withdraw"].map(
        (choice) =>
          `offledger.transfer_instruction.v1.TransferInstructionService/GetTransferInstruction${choice}Context`,
      ),
    );
    ledger.transact([{ archive: "to-carol" }]);
    await until("the archival is applied", () => (source.status().offset ?? 0) >= ledger.lastUpdate);
    await until("the contract is gone", async () => !("contract" in (await get())));
    expect(await get()).toEqual({ archived: true, calls: [] });
  });
});
