/** Recorded contracts of a deployed Registry Utility decode as the rules need them. */
import { describe, expect, test } from "vitest";
import { isStored } from "../../src/domain/contract.js";
import { Decoder } from "../../src/ledger/decode.js";
import { holding, templates } from "../../src/registry/utility/templates.js";
import type { TableFields } from "../../src/registry/engine/templates.js";
import { hasEvidence, ledgerEffects } from "./evidence.js";
import { creationsOf, recordedElement } from "./reconstruct.js";
import { unseenContracts } from "./registry-of-load.js";

/** Every recorded creation: update, template, and whether the store keeps it, counts it or ignores it. */
const creations: readonly [update: number, template: string, kept: "stored" | "counted" | "ignored"][] = [
  [0, "Holding", "counted"],
  [0, "ExecutedMint", "ignored"],
  [1, "Holding", "stored"],
  [1, "Holding", "counted"],
  [1, "TransferOffer", "stored"],
  [2, "Holding", "counted"],
  [2, "ExecutedTransfer", "ignored"],
  [3, "Holding", "stored"],
  [3, "TransferOffer", "stored"],
  [4, "Holding", "counted"],
  [4, "ExecutedTransfer", "ignored"],
  [5, "Holding", "stored"],
  [5, "BurnRequest", "stored"],
  [6, "ExecutedBurn", "ignored"],
];

/** In units of 10^-10: 1000; 500 locked, 616; 500; 400 locked; 400; 1016 locked. */
const amounts = [1000n, 500n, 616n, 500n, 400n, 400n, 1016n].map((amount) => amount * 10n ** 10n);

const recorded = () =>
  ledgerEffects().flatMap((update, index) =>
    creationsOf(update).map((created) => ({
      index,
      created,
      decoded: new Decoder(templates, true).decode(recordedElement(created, update))?.contract,
    })),
  );

describe.skipIf(!hasEvidence)("recorded contracts (skipped without the recordings)", () => {
  test("decode, or are of templates that no rule needs", () => {
    const found = recorded().map(({ index, created, decoded }) => {
      const kept = decoded === undefined ? "ignored" : isStored(decoded) ? "stored" : "counted";
      return [index, created.templateId.split(":")[2], kept];
    });
    expect(found).toEqual(creations);
  });

  test("keep id, template, payload, time and synchronizer", () => {
    for (const { created, decoded } of recorded()) {
      if (decoded === undefined || !isStored(decoded)) continue;
      const { contractId, templateId, createdAt, createArgument } = created;
      expect(decoded).toMatchObject({ contractId, templateId, createdAt, reassignmentCounter: 0 });
      expect(JSON.parse(decoded.payload)).toEqual(createArgument);
      expect(decoded.synchronizerId).toMatch(/^global-domain::1220458886f67bf9/);
    }
  });

  test("count with their amounts, locked or not", () => {
    const supplies = recorded().flatMap(({ decoded }) => decoded?.supply?.amount ?? []);
    expect(supplies).toEqual(amounts);
  });

  test("have the parties, the instrument and the locked holding that the rules read", () => {
    const instructions = recorded().flatMap(({ index, decoded }) => {
      if (decoded === undefined || !isStored(decoded) || decoded.template === holding) return [];
      const { registrar, instruments, roles, refs } = decoded.fields as TableFields;
      const named = ["provider", "sender", "receiver", "holder"].map((role) => roles[role]?.join(" "));
      const parties = [registrar, ...named].map((party) => party?.split("::")[0]);
      return [[index, ...instruments, refs["locked"]?.join(" ").slice(0, 8), ...parties]];
    });
    const [registrar, provider] = ["test-registrar", "test-provider"];
    expect(instructions).toEqual([
      [1, "LOAD", "00619815", registrar, provider, "test-sender", "test-receiver", undefined],
      [3, "LOAD", "003999df", registrar, provider, "test-receiver", "test-sender", undefined],
      [5, "LOAD", "0027bd11", registrar, provider, undefined, undefined, "test-sender"],
    ]);
  });

  test("that are not shown but referred to are built so that they decode", () => {
    const built = unseenContracts(ledgerEffects()).map((element) => new Decoder(templates).decode(element)?.contract);
    expect(built.map((contract) => contract && isStored(contract) && contract.template.qualifiedName)).toEqual([
      "Utility.Registry.App.V0.Model.Mint:MintRequest",
      "Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory",
      "Utility.Registry.V0.Rule.Transfer:TransferRule",
      "Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration",
      "Utility.Registry.V0.Configuration.AppReward:AppRewardConfiguration",
      "Utility.Credential.V0.Credential:Credential",
      "Utility.Credential.V0.Credential:Credential",
      "Utility.Credential.V0.Credential:Credential",
    ]);
  });
});
