/** An archived instruction is told apart from one never seen, to its own registrar alone. */
import { alreadyCaughtUp } from "../../src/domain/ledger.js";
import { expect, test } from "vitest";
import type { Contract } from "../../src/domain/contract.js";
import { causesOf, RegistryError } from "../../src/domain/errors.js";
import { Decoder } from "../../src/ledger/decode.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../src/registry/utility/allocation.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { instructions, registryOf } from "../fixtures/registries.js";

const OTHER = "other-registrar::1220";
const registry = utilityRegistry({ settlementLimits: MIN_SETTLEMENT_LIMITS });

/** The code and the message of a refusal. */
async function refused(query: () => unknown): Promise<[string | undefined, string]> {
  try {
    await query();
  } catch (error) {
    if (error instanceof RegistryError) return [causesOf(error)[0]?.code, error.message];
    throw error;
  }
  throw new Error("it was answered");
}

/** Says how an accept of an instruction is refused. */
async function serving() {
  const store = new MemoryStore();
  const decoder = new Decoder(registry.templates);
  const others = element("AllocationFactory", "others", payload.service({ registrar: OTHER }));
  const contracts = [...registryOf(), ...instructions(), others].map(
    (one) => decoder.decode(one)?.contract as Contract,
  );
  await store.replace(contracts, 1);
  await store.apply([{ archived: "offer" }, { archived: "burn-offer" }], 2);
  const upToDate = { staleReason: () => undefined, catchUp: alreadyCaughtUp };
  const executor = new QueryExecutor(registry, store, upToDate, Date.now);
  return {
    accept: (registrar: string, contractId: string) =>
      refused(() =>
        executor.execute((of, context) =>
          of.choiceContext(context, "transfer-instruction/accept", { registrar, contractId }),
        ),
      ),
    acceptBurn: (contractId: string) =>
      refused(() =>
        executor.executeUtility((utility, context) =>
          utility.issuanceContext(context, "burn-offer/accept", { registrar: undefined, contractId }),
        ),
      ),
  };
}

test("the registrar of an archived offer learns that it is archived", async () => {
  const { accept } = await serving();
  expect(await accept(parties.registrar, "offer")).toEqual([
    "instruction-archived",
    `transfer instruction offer of registrar ${parties.registrar} has been archived`,
  ]);
});

test("another registrar learns as much as of an offer that never was", async () => {
  const { accept } = await serving();
  const [ofArchived, ofUnknown] = [await accept(OTHER, "offer"), await accept(OTHER, "never!")];
  expect(ofArchived[0]).toBe("instruction-unknown");
  expect(ofArchived[1].replace("offer", "never!")).toBe(ofUnknown[1]);
});

test("an operation whose path names no registrar tells it", async () => {
  const { acceptBurn } = await serving();
  expect((await acceptBurn("burn-offer"))[0]).toBe("instruction-archived");
  expect((await acceptBurn("never"))[0]).toBe("instruction-unknown");
});
