/** A ledger that random steps change. */
import fc from "fast-check";
import type { JsonObject } from "../../../src/domain/json.js";
import { element, type Template } from "../../fixtures/elements.js";
import {
  configurationOf,
  type ContractDraft,
  credential,
  factoryOf,
  instruction,
  instrument,
  oneOfEach,
  preapproval,
  registrar,
  registrars,
  reward,
  right,
  ruleOf,
  serviceOf,
  synchronizers,
  weighted,
} from "./contract-arbitraries.js";
import { isObject, type Ledger, type LedgerContract, read } from "./ledger.js";

/** What has happened to one contract. */
export type LedgerChange =
  | { readonly active: LedgerContract }
  | { readonly unassigned: string; readonly reassignmentCounter: number }
  | { readonly archived: string };

/** A random step. `which` picks a contract, modulo their number. */
export type Step =
  | { readonly does: "create"; readonly draft: ContractDraft }
  /** A holding arrives that is locked by an instruction and was on no synchronizer of the participant. */
  | { readonly does: "archive" | "reassign" | "arrive"; readonly which: number };

/** The versions of each package in the five releases of the specification. */
const versions = {
  "app-v0": ["0.5.0", "0.7.0", "0.8.2", "0.9.2", "0.10.0"],
  "registry-v0": ["0.5.1", "0.6.0", "0.7.1", "0.8.0", "0.9.0"],
  "holding-v0": ["0.2.0", "0.2.1", "0.2.2", "0.3.0", "0.4.0"],
  "credential-v0": ["0.1.0", "0.1.0", "0.1.1", "0.1.2", "0.1.3"],
  amulet: ["0.1.14"],
} as const;

const packageOf: Readonly<Record<Template, keyof typeof versions>> = {
  AllocationFactory: "app-v0",
  RegistrarService: "app-v0",
  InstrumentConfiguration: "registry-v0",
  TransferRule: "registry-v0",
  AppRewardConfiguration: "registry-v0",
  FeaturedAppRight: "amulet",
  Credential: "credential-v0",
  TransferPreapproval: "app-v0",
  TransferOffer: "app-v0",
  DvpLegAllocation: "registry-v0",
  BurnRequest: "app-v0",
  BurnOffer: "app-v0",
  MintRequest: "app-v0",
  MintOffer: "app-v0",
  Holding: "holding-v0",
};

/** The versions of the packages by package id. */
export const packageVersions: ReadonlyMap<string, string> = new Map(
  Object.entries(versions).flatMap(([name, all]) => all.map((version) => [`${name}-${version}`, version] as const)),
);

export class RandomLedger {
  readonly #contracts = new Map<string, LedgerContract>();
  /** Locked holdings that are elsewhere. */
  #elsewhere: LedgerContract[] = [];
  #created = 0;

  get contracts(): Ledger {
    return [...this.#contracts.values()];
  }

  apply(step: Step): LedgerChange[] {
    if (step.does === "create") return this.#create(step.draft).map((active) => ({ active }));
    if (step.does === "arrive") return this.#arrive(step.which);
    const contract = this.contracts[step.which % Math.max(1, this.#contracts.size)];
    if (contract === undefined) return [];
    return [step.does === "archive" ? this.#archive(contract) : this.#reassign(contract)];
  }

  /** The contracts of an earlier time. Those that are created later have other ids than those that were. */
  restore(contracts: Ledger): void {
    this.#contracts.clear();
    for (const contract of contracts) this.#contracts.set(contract.contractId, contract);
  }

  /** An instruction is created with the holding that it locks. */
  #create({ template, payload, placement, locks }: ContractDraft): LedgerContract[] {
    const { createdAt, synchronizerId, idPrefix, release, isLookalike } = placement;
    const add = (of: Template, prefix: string, own: JsonObject, where: string | undefined): LedgerContract => {
      const contractId = `${prefix}${String(this.#created++).padStart(3, "0")}`;
      const ofPackage = packageOf[of];
      const version = versions[ofPackage][release] ?? versions[ofPackage][0];
      const contract: LedgerContract = {
        contractId,
        template: of,
        packageId: `${ofPackage}-${version}`,
        isLookalike: isLookalike && of === template,
        createdAt,
        payload: own,
        synchronizerId: where,
        reassignmentCounter: where === undefined ? 1 : 0,
      };
      this.#contracts.set(contractId, contract);
      return contract;
    };
    if (locks === undefined) return [add(template, idPrefix, payload, synchronizerId)];
    const elsewhere = synchronizers.find((one) => one !== synchronizerId);
    const place = { same: synchronizerId, other: elsewhere, moving: undefined, gone: undefined }[locks.place];
    const holding = add("Holding", "00d", holdingPayload(locks.isLocked), place);
    const locking = add(template, idPrefix, withLock(template, payload, holding.contractId), synchronizerId);
    if (locks.place !== "gone") return [holding, locking];
    this.#contracts.delete(holding.contractId);
    this.#elsewhere.push({ ...holding, synchronizerId });
    return [locking];
  }

  #arrive(which: number): LedgerChange[] {
    const [active] = this.#elsewhere.splice(which % Math.max(1, this.#elsewhere.length), 1);
    if (active === undefined) return [];
    this.#contracts.set(active.contractId, active);
    return [{ active }];
  }

  #archive({ contractId }: LedgerContract): LedgerChange {
    this.#contracts.delete(contractId);
    return { archived: contractId };
  }

  /** A contract in reassignment arrives where it has not been before, if it has been anywhere. */
  #reassign(contract: LedgerContract): LedgerChange {
    const { contractId, synchronizerId, reassignmentCounter } = contract;
    if (synchronizerId !== undefined) {
      const counter = reassignmentCounter + 1;
      this.#contracts.set(contractId, { ...contract, synchronizerId: undefined, reassignmentCounter: counter });
      return { unassigned: contractId, reassignmentCounter: counter };
    }
    const active = { ...contract, synchronizerId: synchronizers[reassignmentCounter % synchronizers.length] };
    this.#contracts.set(contractId, active);
    return { active };
  }
}

/** A contract as the participant's active contracts have it. */
export function elementOf(contract: LedgerContract): JsonObject {
  const { template, contractId, payload, synchronizerId, packageId, createdAt, reassignmentCounter, isLookalike } =
    contract;
  return element(template, contractId, payload, {
    packageId,
    createdAt,
    reassignmentCounter,
    ...(isLookalike ? { packageName: "utility-registry-lookalike-v0" } : {}),
    ...(synchronizerId === undefined ? { moving: "unassigned" } : { synchronizerId }),
  });
}

/** A transfer offer names the holdings that it was made from; the first one is locked. */
function withLock(template: Template, payload: JsonObject, contractId: string): JsonObject {
  const transfer = read(payload, "transfer");
  return template === "TransferOffer" && isObject(transfer)
    ? { ...payload, transfer: { ...transfer, inputHoldingCids: [contractId, "00ee"] } }
    : { ...payload, lockedHoldingCid: contractId };
}

const holdingPayload = (isLocked: boolean): JsonObject => ({
  operator: "operator::1220",
  provider: "provider::1220",
  registrar: "gold::1220",
  owner: "alice::1220",
  instrument: { source: "gold::1220", id: "USD", scheme: "Internal" },
  label: "",
  amount: "1.0000000000",
  lock: isLocked ? { lockers: { map: [["gold::1220", {}]] }, context: "", observers: { map: [] } } : null,
});

/** What a registrar needs to be served; each part is missing once in a while. */
const registryOf = (ownRegistrar: string): fc.Arbitrary<ContractDraft[]> => {
  const of = fc.constant(ownRegistrar);
  const parts = [
    factoryOf(of),
    serviceOf(of),
    configurationOf(of, fc.constant("USD")),
    configurationOf(of, fc.constant("EUR")),
    ruleOf(of),
  ].map((part) => fc.option(part, { freq: 15, nil: undefined }));
  return fc.tuple(...parts).map((drawn) => drawn.flatMap((part) => part ?? []));
};

/** The same on the second synchronizer, with a preapproval. */
const secondRegistryOf = (ownRegistrar: string): fc.Arbitrary<ContractDraft[]> =>
  fc.tuple(registryOf(ownRegistrar), preapproval).map(([parts, approval]) =>
    [...parts, approval].map((draft) => {
      const placement = { ...draft.placement, synchronizerId: synchronizers[1] };
      return Object.assign({}, draft, { placement });
    }),
  );

/** A contract of any template but the instructions. */
export const otherContract = weighted(
  [5, credential],
  [2, configurationOf(registrar, instrument)],
  [1, factoryOf(registrar)],
  [1, ruleOf(registrar)],
  [1, serviceOf(registrar)],
  [2, preapproval],
  [1, reward],
  [1, right],
);

/** The contracts that a ledger begins with. */
export const first: fc.Arbitrary<ContractDraft[]> = fc
  .tuple(
    registryOf(registrars[0]),
    registryOf(registrars[1]),
    fc.option(secondRegistryOf(registrars[0]), { freq: 2, nil: [] }),
    fc.array(preapproval, { maxLength: 2 }),
    oneOfEach,
    fc.array(credential, { maxLength: 20 }),
    fc.array(otherContract, { maxLength: 8 }),
  )
  .map((parts) => parts.flat());

/** What happens to one contract. */
export const change: fc.Arbitrary<Step> = weighted(
  [3, fc.record({ does: fc.constant("create" as const), draft: fc.oneof(instruction, otherContract) })],
  [1, fc.record({ does: fc.constant("archive" as const), which: fc.nat() })],
  [2, fc.record({ does: fc.constant("reassign" as const), which: fc.nat() })],
);
