/**
 * The interfaces of the token standard, whose views a participant computes of every contract that implements them. A view
 * says what the template says of itself: it proves nothing, the signatories do.
 */
import type { JsonObject } from "../util/json.js";
import type { BodyTexts } from "./contract.js";

/** What implements an interface, whatever its version. */
export const INTERFACE_KINDS = [
  "transfer-factory",
  "transfer-instruction",
  "allocation-factory",
  "allocation-instruction",
  "allocation",
  "settlement-factory",
  "holding",
] as const;
export type InterfaceKind = (typeof INTERFACE_KINDS)[number];

export interface TokenInterface {
  readonly kind: InterfaceKind;
  /** Of the token standard. */
  readonly version: 1 | 2;
  readonly packageName: string;
  /** `Module:Interface`. */
  readonly qualifiedName: string;
  /** The published package. Others of this name have had other fields: their views are not read. */
  readonly packageId: string;
}

/** The published packages of each API: of version 1, and of version 2. */
const PACKAGES = {
  TransferInstruction: [
    "55ba4deb0ad4662c4168b39859738a0e91388d252286480c7331b3f71a517281",
    "29317e3b7b165d2bbf16721bcca0ec4869e53eddb2738bddf790d61af28e0099",
  ],
  AllocationInstruction: [
    "275064aacfe99cea72ee0c80563936129563776f67415ef9f13e4297eecbc520",
    "9818a0b5b827109de03a04c8f6151cde9d1e7fe5123dbb2dfeb0e52d7271287c",
  ],
  Allocation: [
    "93c942ae2b4c2ba674fb152fe38473c507bda4e82b4e4c5da55a552a9d8cce1d",
    "051a3b0563a6fa4df4cb34448081e48b061e555aa1a265abf6ae8f3f4cafe439",
  ],
  Holding: [
    "718a0f77e505a8de22f188bd4c87fe74101274e9d4cb1bfac7d09aec7158d35b",
    "4b7ecfc366d79ccc5ed07c80f26fe489cf2dfd43ce2856c06a78e6a048db7032",
  ],
} as const;

const define = (kind: InterfaceKind, api: keyof typeof PACKAGES, entity: string): readonly TokenInterface[] =>
  PACKAGES[api].map((packageId, index) => ({
    kind,
    version: index === 0 ? 1 : 2,
    packageName: `splice-api-token-${api.replace(/\B[A-Z]/, "-$&").toLowerCase()}-v${index + 1}`,
    qualifiedName: `Splice.Api.Token.${api}V${index + 1}:${entity}`,
    packageId,
  }));

export const TOKEN_INTERFACES: readonly TokenInterface[] = [
  ...define("transfer-factory", "TransferInstruction", "TransferFactory"),
  ...define("transfer-instruction", "TransferInstruction", "TransferInstruction"),
  ...define("allocation-factory", "AllocationInstruction", "AllocationFactory"),
  ...define("allocation-instruction", "AllocationInstruction", "AllocationInstruction"),
  ...define("allocation", "Allocation", "Allocation"),
  // Version 1 settles by a choice on each allocation.
  ...define("settlement-factory", "Allocation", "SettlementFactory").slice(1),
  ...define("holding", "Holding", "Holding"),
];

/** How a ledger shows a contract besides its arguments. */
export interface ShownContract {
  /** Of the interfaces that were asked for and that it implements. */
  readonly views: ReadonlyMap<TokenInterface, JsonObject>;
}

/** A view as a body keeps it. Most of a view is in the arguments, too: what equals the argument of its name is only named. */
interface KeptView {
  readonly same: readonly string[];
  readonly own: JsonObject;
}

/** The text of views, for `unpackViews`; empty if there are none. */
export function packViews(views: ReadonlyMap<TokenInterface, JsonObject>, payload: JsonObject): string {
  const kept: Record<string, KeptView> = {};
  for (const [{ kind, version }, view] of views) {
    const [same, own]: [string[], JsonObject] = [[], {}];
    for (const [name, value = null] of Object.entries(view))
      if (JSON.stringify(value) === JSON.stringify(payload[name])) same.push(name);
      else own[name] = value;
    kept[`${kind}/${version}`] = { same, own };
  }
  return views.size === 0 ? "" : JSON.stringify(kept);
}

/** The views of a body by the ids of their interfaces, `packageId:Module:Interface`. */
export function unpackViews({ payload, views }: BodyTexts): Readonly<Record<string, JsonObject>> {
  // Both are texts that `JSON.stringify` and `packViews` made.
  const all = JSON.parse(payload) as JsonObject;
  const kept = views === "" ? {} : (JSON.parse(views) as Record<string, KeptView>);
  return Object.fromEntries(
    TOKEN_INTERFACES.flatMap(({ kind, version, packageId, qualifiedName }) => {
      const view = kept[`${kind}/${version}`];
      if (view === undefined) return [];
      const same = Object.fromEntries(view.same.map((name) => [name, all[name] ?? null]));
      return [[`${packageId}:${qualifiedName}`, { ...same, ...view.own }]];
    }),
  );
}
