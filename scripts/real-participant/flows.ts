/** The flows of the Registry Utility, each choice with the service's answer. A flow throws where one is not accepted. */
import type { JsonObject } from "../../src/util/json.js";
import { at, HOUR_MS, type Instrument, NO_CONTEXT, NO_META, REQUESTED_MS } from "./instrument.js";
import { createdOf, templates } from "./ledger.js";

export interface Flow {
  readonly name: string;
  readonly run: (of: Instrument) => Promise<void>;
}

/** Runs one flow and prints how it ended, with the note that it returns. */
export type Report = (name: string, run: () => Promise<string | void>) => Promise<void>;

type TransferKind = "offer" | "self" | "direct";

/** Starts a transfer of alice, and returns the id of the offer if there is one. */
export async function startTransfer(of: Instrument, receiver: string, kind: TransferKind): Promise<string> {
  const argument = of.transfer(of.alice, receiver, await of.holding(of.alice));
  const { created, answer } = await of.exercise({
    actAs: [of.alice],
    path: of.standard("transfer-instruction/v1/transfer-factory"),
    body: { choiceArguments: { ...argument, extraArgs: NO_CONTEXT } },
    command: { templateId: templates.transferFactory, choice: "TransferFactory_Transfer", argument },
  });
  if (answer.transferKind !== kind) throw new Error(`the transfer is ${answer.transferKind}, not ${kind}`);
  return kind === "offer" ? createdOf(created, "TransferOffer") : "";
}

async function endTransfer(of: Instrument, choice: string, actor: "alice" | "bob"): Promise<void> {
  const contractId = await startTransfer(of, of.bob, "offer");
  await of.exercise({
    actAs: [of[actor]],
    path: of.standard(`transfer-instruction/v1/${contractId}/choice-contexts/${choice.toLowerCase()}`),
    command: {
      templateId: templates.transferInstruction,
      contractId,
      choice: `TransferInstruction_${choice}`,
      argument: {},
    },
  });
}

async function endAllocation(of: Instrument, path: string, choice: string, byAll: boolean): Promise<void> {
  const { alice, bob, executor } = of;
  const argument = {
    expectedAdmin: of.registrar,
    allocation: of.allocation(),
    requestedAt: at(REQUESTED_MS),
    inputHoldingCids: [await of.holding(alice)],
  };
  const { created } = await of.exercise({
    actAs: [alice],
    path: of.standard("allocation-instruction/v1/allocation-factory"),
    body: { choiceArguments: { ...argument, extraArgs: NO_CONTEXT } },
    command: { templateId: templates.allocationFactory, choice: "AllocationFactory_Allocate", argument },
  });
  const contractId = createdOf(created, "DvpLegAllocation");
  await of.exercise({
    actAs: byAll ? [executor, alice, bob] : [alice],
    path: of.standard(`allocations/v1/${contractId}/choice-contexts/${path}`),
    command: { templateId: templates.allocation, contractId, choice: `Allocation_${choice}`, argument: {} },
  });
}

type Kind = "Mint" | "Burn";
type Form = "Offer" | "Request";
type End = "Accept" | "Reject" | "Cancel";

/** The registrar offers, the holder requests; the other one accepts or rejects. */
async function issue(of: Instrument, kind: Kind, form: Form, end: End): Promise<void> {
  const { registrar, alice: holder, instrumentId } = of;
  const [creator, other] = form === "Offer" ? [registrar, holder] : [holder, registrar];
  const times = { requestedAt: at(REQUESTED_MS), executeBefore: at(HOUR_MS) };
  const terms = { instrumentId, amount: "2.0", holder, reference: "reference", ...times, meta: NO_META };
  const holdingCids = kind === "Burn" ? [await of.holding(holder)] : [];
  const isBurnRequest = kind === "Burn" && form === "Request";
  const path = `/api/utilities/v0/registry/${kind.toLowerCase()}/v0/${form.toLowerCase()}`;
  const { created } = await of.exercise({
    actAs: [creator],
    path,
    body: { holder, instrumentId, ...(isBurnRequest ? { holdingContractIds: holdingCids } : {}) },
    command: {
      templateId: templates.factory,
      choice: `AllocationFactory_${form}${kind}`,
      argument: {
        expectedAdmin: registrar,
        [kind.toLowerCase()]: terms,
        ...(isBurnRequest ? { holdingCids } : {}),
      },
    },
  });
  const entity = `${kind}${form}` as const;
  const contractId = createdOf(created, entity);
  const isBurnOffer = kind === "Burn" && form === "Offer";
  const arguments_: Readonly<Record<End, JsonObject>> = {
    Accept: isBurnOffer ? { holdingCids } : {},
    Reject: { reason: "no" },
    Cancel: {},
  };
  await of.exercise({
    actAs: [end === "Cancel" ? creator : other],
    path: `${path}/${contractId}/choice-contexts/${end.toLowerCase()}`,
    command: { templateId: templates[entity], contractId, choice: `${entity}_${end}`, argument: arguments_[end] },
    isWithoutContext: end === "Cancel",
  });
}

/** Burns holdings of alice and mints others, as registrar and alice. */
async function burnMint(of: Instrument, inputs: number, outputs: readonly string[]): Promise<void> {
  const { registrar, alice, instrumentId } = of;
  const inputHoldingCids: string[] = [];
  for (let input = 0; input < inputs; input++) inputHoldingCids.push(await of.holding(alice));
  await of.exercise({
    actAs: [registrar, alice],
    path: "/api/utilities/v0/registry/burn-mint-instruction/v0/burn-mint-factory",
    body: { instrumentId, inputHoldingCids, outputs: outputs.map((amount) => ({ owner: alice, amount })) },
    command: {
      templateId: templates.burnMintFactory,
      choice: "BurnMintFactory_BurnMint",
      argument: {
        expectedAdmin: registrar,
        instrumentId,
        inputHoldingCids,
        outputs: outputs.map((amount) => ({ owner: alice, amount, context: { values: {} } })),
        extraActors: [alice],
      },
    },
  });
}

const issuances: readonly Flow[] = (["Mint", "Burn"] as const).flatMap((kind) =>
  (["Offer", "Request"] as const).flatMap((form) =>
    (["Accept", "Reject", "Cancel"] as const).map((end) => ({
      name: `${kind} ${form} ${end}`.toLowerCase(),
      run: (of: Instrument) => issue(of, kind, form, end),
    })),
  ),
);

export const flows: readonly Flow[] = [
  { name: "transfer accept", run: (of) => endTransfer(of, "Accept", "bob") },
  { name: "transfer reject", run: (of) => endTransfer(of, "Reject", "bob") },
  { name: "transfer withdraw", run: (of) => endTransfer(of, "Withdraw", "alice") },
  { name: "transfer self", run: async (of) => void (await startTransfer(of, of.alice, "self")) },
  {
    name: "transfer direct",
    run: (of) => of.preapproved(of.bob, async () => void (await startTransfer(of, of.bob, "direct"))),
  },
  { name: "allocation execute-transfer", run: (of) => endAllocation(of, "execute-transfer", "ExecuteTransfer", true) },
  { name: "allocation withdraw", run: (of) => endAllocation(of, "withdraw", "Withdraw", false) },
  { name: "allocation cancel", run: (of) => endAllocation(of, "cancel", "Cancel", true) },
  ...issuances,
  { name: "burn-mint, mint only", run: (of) => burnMint(of, 0, ["4.0"]) },
  { name: "burn-mint, burn and mint", run: (of) => burnMint(of, 1, ["3.0", "7.0"]) },
  { name: "burn-mint, burn only", run: (of) => burnMint(of, 2, []) },
];
