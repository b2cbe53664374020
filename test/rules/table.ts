/** The specification's table of operations, written by hand, with a call of each row and a registry for it. */
import type { JsonObject } from "../../src/domain/json.js";
import {
  allocationFactory,
  burnMintFactory,
  createIssuance,
  executeTransfer,
  type Form,
  type Kind,
  onAllocation,
  onIssuance,
  onTransfer,
  settlementFactory,
  transferFactory,
} from "../fixtures/calls/operations.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { registryOf } from "../fixtures/registries.js";
import {
  account,
  allocationV1,
  allocationV2,
  leg,
  legSide,
  settlement,
  transferV1,
  transferV2,
} from "../fixtures/requests.js";

export const versions = ["v1", "v2"] as const;
const prefixed = (...names: readonly string[]): string[] => names.map((name) => `utility.digitalasset.com/${name}`);
export const ENABLED = "utility.digitalasset.com/enable-result-contracts";

export interface Row {
  readonly name: string;
  readonly call: Call;
  /** In the order of the table. */
  readonly keys: readonly string[];
  /** Sorted. */
  readonly disclosed: readonly string[];
  /** Without these there is no answer. */
  readonly needs: readonly ("usd" | "rule" | "locked")[];
  /** The keys that the setting `rewards` adds; absent if it adds none. */
  readonly rewardKeys?: readonly string[];
  /** The choice fails for an instrument that checks a blocklist. */
  readonly needsBlocklist?: true;
}

const rewardKeys = prefixed("app-reward-configuration", "featured-app-right");
const [alice, bob, carol] = [account("alice"), account("bob"), account("carol")];

const executed = {
  keys: prefixed("instrument-configuration", "sender-credentials", "receiver-credentials", "transfer-rule"),
  needs: ["usd", "rule"],
  rewardKeys,
  needsBlocklist: true,
} as const;
const transferred = { ...executed, keys: [...executed.keys, ENABLED] } as const;
const offered = {
  keys: prefixed("instrument-configuration", "sender-credentials"),
  disclosed: ["alice-holds", "factory", "usd"],
  needs: ["usd"],
  needsBlocklist: true,
} as const;
const direct = { ...transferred, disclosed: ["alice-holds", "carol-approves", "carol-holds", "rule", "usd"] };
const toSelf = { ...transferred, disclosed: ["alice-holds", "factory", "rule", "usd"], needs: [] };
const issued = { keys: prefixed("instrument-configuration", "issuer-credentials"), needs: ["usd"] } as const;
const exit = { disclosed: ["locked"], needs: [] } as const;
const legs = [leg(alice, bob, "USD")];
const sides = [legSide("SenderSide", "USD")];

export const factories: readonly Row[] = [
  { name: "v1 transfer-factory, offer", call: transferFactory("v1", transferV1("alice", "bob")), ...offered },
  { name: "v2 transfer-factory, offer", call: transferFactory("v2", transferV2(alice, bob)), ...offered },
  { name: "v1 transfer-factory, direct", call: transferFactory("v1", transferV1("alice", "carol")), ...direct },
  { name: "v2 transfer-factory, direct", call: transferFactory("v2", transferV2(alice, carol)), ...direct },
  { name: "v1 transfer-factory, self", call: transferFactory("v1", transferV1("alice", "alice")), ...toSelf },
  { name: "v2 transfer-factory, self", call: transferFactory("v2", transferV2(alice, alice)), ...toSelf },
  { name: "v1 allocation-factory", call: allocationFactory("v1", allocationV1("alice", "bob")), ...offered },
  { name: "v2 allocation-factory", call: allocationFactory("v2", allocationV2(alice, sides)), ...offered },
  {
    name: "settlement-factory",
    call: settlementFactory(settlement(legs, ["allocation"])),
    keys: prefixed(
      "transfer-rule",
      "instrument-configurations",
      "instrument-configuration",
      "holder-credentials",
      "enable-result-contracts",
    ),
    disclosed: ["alice-holds", "allocation", "bob-holds", "factory", "locked", "rule", "usd"],
    needs: ["usd", "rule", "locked"],
    rewardKeys,
    needsBlocklist: true,
  },
  {
    name: "burn-mint-factory",
    call: burnMintFactory(["alice"]),
    ...issued,
    disclosed: ["alice-issues", "factory", "usd"],
    rewardKeys,
    needsBlocklist: true,
  },
];

const onTransfers: readonly Row[] = versions.flatMap((version): Row[] => [
  {
    name: `${version} transfer accept`,
    call: onTransfer(version, "accept", "offer"),
    ...transferred,
    disclosed: ["alice-holds", "bob-holds", "locked", "rule", "usd"],
  },
  { name: `${version} transfer reject`, call: onTransfer(version, "reject", "offer"), keys: [ENABLED], ...exit },
  { name: `${version} transfer withdraw`, call: onTransfer(version, "withdraw", "offer"), keys: [], ...exit },
]);

const onAllocations: readonly Row[] = [
  {
    name: "v1 allocation execute-transfer",
    call: executeTransfer("allocation"),
    ...executed,
    disclosed: ["alice-holds", "bob-holds", "locked", "rule", "usd"],
    needs: ["usd", "rule", "locked"],
  },
  ...versions.flatMap((version) =>
    (["withdraw", "cancel"] as const).map((choice): Row => ({
      name: `${version} allocation ${choice}`,
      call: onAllocation(version, choice, "allocation"),
      keys: [],
      ...exit,
    })),
  ),
];

const issuances: readonly (readonly [Kind, Form])[] = [
  ["mint", "offer"],
  ["mint", "request"],
  ["burn", "offer"],
  ["burn", "request"],
];
export const creations: readonly Row[] = issuances.map(([kind, form]): Row => ({
  name: `${kind} ${form} create`,
  call: createIssuance(kind, form, "alice"),
  ...issued,
  disclosed: ["alice-issues", "factory", "usd"],
  needsBlocklist: true,
}));
const onIssuances: readonly Row[] = issuances.flatMap(([kind, form]): Row[] => {
  const of = (choice: "accept" | "reject" | "cancel") => ({
    name: `${kind} ${form} ${choice}`,
    call: onIssuance(kind, form, choice, `${kind}-${form}`),
  });
  const locked = kind === "burn" && form === "request" ? (["locked"] as const) : [];
  return [
    {
      ...of("accept"),
      keys: [...issued.keys, ENABLED],
      disclosed: ["alice-issues", ...locked, "usd"],
      needs: [...issued.needs, ...locked],
      rewardKeys,
      needsBlocklist: true,
    },
    { ...of("reject"), keys: [ENABLED], disclosed: locked, needs: [] },
    { ...of("cancel"), keys: [], disclosed: locked, needs: [] },
  ];
});

export const onInstructions = [...onTransfers, ...onAllocations, ...onIssuances];
export const table = [...factories, ...creations, ...onInstructions];

const { provider } = parties;
const requirements = {
  holderRequirements: [requirement(["holds=USD"])],
  issuerRequirements: [requirement(["issues=USD"])],
};
const credential = (id: string, holder: string, claim: string) =>
  element("Credential", id, payload.credential(holder, [claim]));

/** Everything that the operations need. `more` are fields of the instrument's configuration. */
export const complete = (more: JsonObject = {}, changes: Parameters<typeof registryOf>[0] = {}): JsonObject[] =>
  registryOf(
    {
      configuration: element(
        "InstrumentConfiguration",
        "usd",
        payload.configuration("USD", { ...requirements, ...more }),
      ),
      ...changes,
    },
    credential("carol-holds", "carol", "holds=USD"),
    credential("alice-issues", "alice", "issues=USD"),
    credential("registrar-issues", parties.registrar, "issues=USD"),
    element("TransferPreapproval", "carol-approves", payload.preapproval("carol", ["USD"])),
    element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
    element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked", { provider })),
    element("MintOffer", "mint-offer", payload.mint("alice", "USD")),
    element("MintRequest", "mint-request", payload.mint("alice", "USD")),
    element("BurnOffer", "burn-offer", payload.burn("alice", "USD")),
    element("BurnRequest", "burn-request", payload.burn("alice", "USD", { lockedHoldingCid: "locked" })),
    element("Holding", "locked", payload.lockedHolding("alice", "USD")),
  );

/** The elements without the contract. */
export const without = (contractId: string, elements: readonly JsonObject[]): JsonObject[] =>
  elements.filter((one) => !JSON.stringify(one).includes(`"contractId":"${contractId}"`));
