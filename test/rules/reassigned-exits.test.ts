/** Reject, withdraw and cancel, with contracts that are in reassignment, on another synchronizer, or gone. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { onAllocation, onIssuance, onTransfer } from "../fixtures/calls/operations.js";
import { contractId, resultContracts, twice } from "../fixtures/context.js";
import { element, type Options, payload } from "../fixtures/elements.js";
import { refused, restAndGrpc, shortOutcome } from "../fixtures/outcomes.js";
import type { Call } from "../fixtures/protocols.js";
import { registryOf, useRegistry } from "../fixtures/registries.js";

const moves: readonly Options[] = [{ moving: "unassigned" }, { moving: "arriving" }];
const elsewhere: Options = { synchronizerId: "sync-B" };
const locked = (options?: Options) => element("Holding", "locked", payload.lockedHolding("alice", "USD"), options);
const configuration = (options?: Options) =>
  element("InstrumentConfiguration", "usd", payload.configuration("USD"), options);

const registryWith = (usd: JsonObject | undefined, ...holdings: readonly JsonObject[]): JsonObject[] =>
  registryOf(
    { configuration: usd },
    element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
    element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked")),
    element("BurnRequest", "request", payload.burn("alice", "USD", { lockedHoldingCid: "locked" })),
    ...holdings,
  );

const enabled = resultContracts(true);
const usd = { ...twice({ "instrument-configuration": contractId("usd") }), ...enabled };

/** The values with and without the configuration. */
const exits: readonly (readonly [name: string, call: Call, values: JsonObject, without: JsonObject])[] = [
  ["v1 transfer reject", onTransfer("v1", "reject", "offer"), usd, enabled],
  ["v2 transfer reject", onTransfer("v2", "reject", "offer"), usd, enabled],
  ["v1 transfer withdraw", onTransfer("v1", "withdraw", "offer"), usd, enabled],
  ["v2 transfer withdraw", onTransfer("v2", "withdraw", "offer"), usd, enabled],
  ["v1 allocation withdraw", onAllocation("v1", "withdraw", "allocation"), enabled, enabled],
  ["v2 allocation withdraw", onAllocation("v2", "withdraw", "allocation"), enabled, enabled],
  ["v1 allocation cancel", onAllocation("v1", "cancel", "allocation"), enabled, enabled],
  ["v2 allocation cancel", onAllocation("v2", "cancel", "allocation"), enabled, enabled],
  ["burn request reject", onIssuance("burn", "request", "reject", "request"), enabled, enabled],
  ["burn request cancel", onIssuance("burn", "request", "cancel", "request"), {}, {}],
];

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  /** Makes each of the calls on a registry. `outcome` says what is expected. */
  function each(
    elements: readonly JsonObject[],
    outcome: (exit: {
      readonly isTransfer: boolean;
      readonly values: JsonObject;
      readonly without: JsonObject;
    }) => JsonObject,
  ): void {
    const url = useRegistry(elements);
    test.each(exits)("%s", async (name, call, values, without) => {
      const expected = outcome({ isTransfer: name.includes("transfer"), values, without });
      expect(shortOutcome(await send(url(), call))).toEqual(expected);
    });
  }

  describe("with all contracts", () => {
    each(registryWith(configuration(), locked()), ({ isTransfer, values }) => ({
      values,
      disclosed: isTransfer ? ["locked", "usd"] : ["locked"],
    }));
  });

  describe.each(moves)("while the locked holding is in reassignment: %o", (options) => {
    each(registryWith(configuration(), locked(options)), () => refused(409, "locked", "being reassigned"));
  });

  describe.each([
    ["gone", []],
    ["on another synchronizer", [locked(elsewhere)]],
  ])("with a locked holding that is %s", (_where, holdings) => {
    each(registryWith(configuration(), ...holdings), ({ isTransfer, values }) => ({
      values,
      disclosed: isTransfer ? ["usd"] : [],
    }));
  });

  // Only the transfer operations disclose the configuration.
  describe.each(moves)("while the configuration is in reassignment: %o", (options) => {
    each(registryWith(configuration(options), locked()), ({ isTransfer, values }) =>
      isTransfer ? refused(409, "usd", "being reassigned") : { values, disclosed: ["locked"] },
    );
  });

  describe.each([
    ["gone", undefined],
    ["on another synchronizer", configuration(elsewhere)],
  ])("with a configuration that is %s", (_where, usdThere) => {
    each(registryWith(usdThere, locked()), ({ without }) => ({ values: without, disclosed: ["locked"] }));
  });

  describe.each(moves)("with a configuration that is here, while a newer one is in reassignment: %o", (options) => {
    const newer = { ...options, createdAt: "2026-02-05T09:00:00.000000Z" };
    const other = element("InstrumentConfiguration", "newer", payload.configuration("USD"), newer);
    each(registryWith(configuration(), locked(), other), ({ isTransfer, values }) => ({
      values,
      disclosed: isTransfer ? ["locked", "usd"] : ["locked"],
    }));
  });
});
