/** The specification's table of operations, written by hand, with a call of each row and a registry for it. */
import type { JsonObject } from "../../src/util/json.js";
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
import { element, type Options, parties, payload, requirement, type Template } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
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

/** The rows for a group whose contract ids have a suffix. Credentials and preapprovals belong to no group. */
export function rowsOf(suffix: string) {
  const id = (name: string): string => `${name}${suffix}`;
  const executed = {
    keys: prefixed("instrument-configuration", "sender-credentials", "receiver-credentials", "transfer-rule"),
    needs: ["usd", "rule"],
    rewardKeys,
    needsBlocklist: true,
  } as const;
  const transferred = { ...executed, keys: [...executed.keys, ENABLED] } as const;
  const offered = {
    keys: prefixed("instrument-configuration", "sender-credentials"),
    disclosed: ["alice-holds", id("factory"), id("usd")],
    needs: ["usd"],
    needsBlocklist: true,
  } as const;
  const direct = { ...transferred, disclosed: ["alice-holds", "carol-approves", "carol-holds", id("rule"), id("usd")] };
  const toSelf = { ...transferred, disclosed: ["alice-holds", id("factory"), id("rule"), id("usd")], needs: [] };
  const issued = { keys: prefixed("instrument-configuration", "issuer-credentials"), needs: ["usd"] } as const;
  const exit = { disclosed: [id("locked")], needs: [] } as const;
  const legs = [leg(alice, bob, "USD")];
  const sides = [legSide("SenderSide", "USD")];

  const factories: readonly Row[] = [
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
      call: settlementFactory(settlement(legs, [id("allocation")])),
      keys: prefixed(
        "transfer-rule",
        "instrument-configurations",
        "instrument-configuration",
        "holder-credentials",
        "enable-result-contracts",
      ),
      disclosed: ["alice-holds", id("allocation"), "bob-holds", id("factory"), id("locked"), id("rule"), id("usd")],
      needs: ["usd", "rule", "locked"],
      rewardKeys,
      needsBlocklist: true,
    },
    {
      name: "burn-mint-factory",
      call: burnMintFactory(["alice"]),
      ...issued,
      disclosed: ["alice-issues", id("factory"), id("usd")],
      rewardKeys,
      needsBlocklist: true,
    },
  ];

  const onTransfers: readonly Row[] = versions.flatMap((version): Row[] => [
    {
      name: `${version} transfer accept`,
      call: onTransfer(version, "accept", id("offer")),
      ...transferred,
      disclosed: ["alice-holds", "bob-holds", id("locked"), id("rule"), id("usd")],
    },
    { name: `${version} transfer reject`, call: onTransfer(version, "reject", id("offer")), keys: [ENABLED], ...exit },
    { name: `${version} transfer withdraw`, call: onTransfer(version, "withdraw", id("offer")), keys: [], ...exit },
  ]);

  const onAllocations: readonly Row[] = [
    {
      name: "v1 allocation execute-transfer",
      call: executeTransfer(id("allocation")),
      ...executed,
      disclosed: ["alice-holds", "bob-holds", id("locked"), id("rule"), id("usd")],
      needs: ["usd", "rule", "locked"],
    },
    ...versions.flatMap((version) =>
      (["withdraw", "cancel"] as const).map((choice): Row => {
        const call = onAllocation(version, choice, id("allocation"));
        return { name: `${version} allocation ${choice}`, call, keys: [], disclosed: exit.disclosed, needs: [] };
      }),
    ),
  ];

  const issuances: readonly (readonly [Kind, Form])[] = [
    ["mint", "offer"],
    ["mint", "request"],
    ["burn", "offer"],
    ["burn", "request"],
  ];
  const creations: readonly Row[] = issuances.map(([kind, form]): Row => ({
    name: `${kind} ${form} create`,
    call: createIssuance(kind, form, "alice"),
    ...issued,
    disclosed: ["alice-issues", id("factory"), id("usd")],
    needsBlocklist: true,
  }));
  const onIssuances: readonly Row[] = issuances.flatMap(([kind, form]): Row[] => {
    const of = (choice: "accept" | "reject" | "cancel") => ({
      name: `${kind} ${form} ${choice}`,
      call: onIssuance(kind, form, choice, id(`${kind}-${form}`)),
    });
    const locked = kind === "burn" && form === "request" ? (["locked"] as const) : [];
    return [
      {
        ...of("accept"),
        keys: [...issued.keys, ENABLED],
        disclosed: ["alice-issues", ...locked.map(id), id("usd")],
        needs: [...issued.needs, ...locked],
        rewardKeys,
        needsBlocklist: true,
      },
      { ...of("reject"), keys: [ENABLED], disclosed: locked.map(id), needs: [] },
      { ...of("cancel"), keys: [], disclosed: locked.map(id), needs: [] },
    ];
  });
  const onInstructions = [...onTransfers, ...onAllocations, ...onIssuances];
  return { factories, creations, onInstructions, table: [...factories, ...creations, ...onInstructions] };
}

export const { factories, creations, onInstructions, table } = rowsOf("");

const requirements = {
  holderRequirements: [requirement(["holds=USD"])],
  issuerRequirements: [requirement(["issues=USD"])],
};
const credential = (id: string, holder: string, claim: string) =>
  element("Credential", id, payload.credential(holder, [claim]));

/** The operator and the provider of a group; the registrar is that of the fixtures. */
export interface GroupNames {
  readonly operator?: string;
  readonly provider?: string;
}

/** The contracts of one group, its instructions among them. `more` are fields of the instrument's configuration. */
export function groupElements(
  suffix: string,
  { operator = parties.operator, provider = parties.provider }: GroupNames = {},
  more: JsonObject = {},
  options: Options = {},
): JsonObject[] {
  const of = { operator, provider };
  const locked = `locked${suffix}`;
  const make = (template: Template, name: string, argument: JsonObject) =>
    element(template, `${name}${suffix}`, { ...argument, ...of }, options);
  return [
    make("AllocationFactory", "factory", payload.service()),
    make("RegistrarService", "service", payload.service({ enableResultContracts: true })),
    make("InstrumentConfiguration", "usd", payload.configuration("USD", { ...requirements, ...more })),
    make("TransferRule", "rule", payload.service()),
    make("TransferOffer", "offer", payload.offer("alice", "bob", "USD", locked)),
    make("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", locked)),
    make("MintOffer", "mint-offer", payload.mint("alice", "USD")),
    make("MintRequest", "mint-request", payload.mint("alice", "USD")),
    make("BurnOffer", "burn-offer", payload.burn("alice", "USD")),
    make("BurnRequest", "burn-request", payload.burn("alice", "USD", { lockedHoldingCid: locked })),
    make("Holding", "locked", payload.lockedHolding("alice", "USD")),
  ];
}

/** What belongs to no group. The registrar's own credential plays no part. */
export const partyElements: readonly JsonObject[] = [
  credential("alice-holds", "alice", "holds=USD"),
  credential("bob-holds", "bob", "holds=USD"),
  credential("carol-holds", "carol", "holds=USD"),
  credential("alice-issues", "alice", "issues=USD"),
  credential("registrar-issues", parties.registrar, "issues=USD"),
  element("TransferPreapproval", "carol-approves", payload.preapproval("carol", ["USD"])),
  element("AppRewardConfiguration", "reward", payload.reward()),
  element("FeaturedAppRight", "right", payload.right()),
];

/** Everything that the operations need. */
export const complete = (more: JsonObject = {}): JsonObject[] => [...groupElements("", {}, more), ...partyElements];

/** The elements without the contract. */
export const without = (contractId: string, elements: readonly JsonObject[]): JsonObject[] =>
  elements.filter((one) => !JSON.stringify(one).includes(`"contractId":"${contractId}"`));
