/** Templates, contracts and lookups for the conformance cases. */
import type { Change, Contract, CountedOnly } from "../../../src/domain/contract.js";
import type { JsonObject } from "../../../src/domain/json.js";
import { indexKey, type Template } from "../../../src/domain/template.js";
import type { View } from "../../../src/store/port.js";

/** Each label is an index key. */
export interface FruitFields {
  readonly name: string;
  readonly labels: readonly string[];
}

export const byLabel = (label: string): string => indexKey("label", label);

function fruitTemplate(packageName: string, qualifiedName: string): Template<FruitFields> {
  return {
    packageName,
    qualifiedName,
    parse(payload) {
      const { name, labels } = payload as unknown as FruitFields;
      return { fields: { name, labels }, indexKeys: labels.map(byLabel) };
    },
  };
}

export const apple = fruitTemplate("fruit", "Fruit.Tree:Apple");
/** The registrar of all pears. */
export const GROWER = "grower";
export const pear: Template<FruitFields> = { ...fruitTemplate("fruit", "Fruit.Tree:Pear"), registrarOf: () => GROWER };
/** The same qualified name in another package is another template. */
export const otherApple = fruitTemplate("other-fruit", "Fruit.Tree:Apple");
/** No case stores a plum. */
export const plum = fruitTemplate("fruit", "Fruit.Tree:Plum");
export const templates = [apple, pear, otherApple, plum];

interface ContractOptions {
  readonly labels?: readonly string[];
  readonly createdMicros?: number;
  readonly name?: string;
  readonly more?: Partial<Contract<FruitFields>>;
}

/** A contract as ingest makes it: its template parses the payload. */
export function contract(
  template: Template<FruitFields>,
  contractId: string,
  options: ContractOptions = {},
): Contract<FruitFields> {
  const { labels = [], createdMicros = 1_767_600_000_000_000, name = contractId, more } = options;
  const payload: JsonObject = { name, labels: [...labels] };
  const parsed = template.parse(payload);
  if (parsed === undefined) throw new Error("these templates store every contract");
  return {
    ...parsed,
    contractId,
    template,
    templateId: `pkg-1:${template.qualifiedName}`,
    payload: JSON.stringify(payload),
    createdEventBlob: Buffer.from(contractId).toString("base64"),
    createdAt: formatMicros(createdMicros),
    createdMicros,
    synchronizerId: "sync-A",
    reassignmentCounter: 0,
    supply: undefined,
    slots: undefined,
    ...more,
  };
}

function formatMicros(micros: number): string {
  const millis = Math.floor(micros / 1000);
  return new Date(millis).toISOString().replace("Z", `${String(micros - millis * 1000).padStart(3, "0")}Z`);
}

/** A red apple, created at a time. */
export const createdAt = (id: string, createdMicros: number): Contract<FruitFields> =>
  contract(apple, id, { labels: ["red"], createdMicros });

export const inPackage = (packageId: string, given: Contract<FruitFields>): Contract<FruitFields> => ({
  ...given,
  templateId: `${packageId}:${given.template.qualifiedName}`,
});

export const supply = (amount: bigint, sum = "USD"): Pick<Contract, "supply"> => ({ supply: { sum, amount } });

export const countedOnly = (contractId: string, amount: bigint, sum = "USD"): CountedOnly => ({
  contractId,
  synchronizerId: "sync-A",
  reassignmentCounter: 0,
  supply: { sum, amount },
});

/** A red apple becomes active. */
export const active = (id: string, more: Partial<Contract<FruitFields>> = {}): Change => ({
  active: contract(apple, id, { labels: ["red"], more }),
});

export const unassigned = (id: string, reassignmentCounter: number): Change => ({
  unassigned: id,
  reassignmentCounter,
});

export const idsOf = (contracts: readonly Contract[]): string[] => contracts.map(({ contractId }) => contractId);

export const namesOf = (contracts: readonly Contract<FruitFields>[]): string[] =>
  contracts.map(({ fields }) => fields.name);

export const toList = <F>(found: Contract<F> | undefined): readonly Contract<F>[] =>
  found === undefined ? [] : [found];

/** A lookup by id or by label, in one template. */
export interface Lookup {
  readonly template: Template<FruitFields>;
  readonly by: { readonly id: string } | { readonly label: string };
}

/** Two apples and a pear, and lookups with the ids that each has to find. */
export const threeContracts = [
  contract(apple, "a", { labels: ["red"], createdMicros: 2 }),
  contract(apple, "b", { labels: ["red", "sweet"], createdMicros: 1 }),
  contract(pear, "c", { labels: ["red"] }),
];
export const lookups: readonly (Lookup & { readonly ids: readonly string[] })[] = [
  { template: apple, by: { id: "b" }, ids: ["b"] },
  { template: apple, by: { label: "red" }, ids: ["a", "b"] },
  { template: apple, by: { id: "none" }, ids: [] },
  { template: pear, by: { label: "red" }, ids: ["c"] },
  { template: pear, by: { id: "b" }, ids: [] },
  { template: apple, by: { id: "b" }, ids: ["b"] },
  { template: apple, by: { label: "red" }, ids: ["a", "b"] },
  { template: apple, by: { label: "none" }, ids: [] },
];

export const lookUp = (view: View, { template, by }: Lookup): string[] =>
  idsOf("id" in by ? toList(view.byId(template, by.id)) : view.byKey(template, byLabel(by.label)));

export const lookUpAll = (view: View): string[][] => lookups.map((lookup) => lookUp(view, lookup));
