/** What the views of the token standard's interfaces say: the paths that a template has by default. */
import { isObject, type JsonObject } from "../../util/json.js";
import {
  type InterfaceKind,
  type ShownContract,
  TOKEN_INTERFACES,
  type TokenInterface,
} from "../../domain/token-interfaces.js";
import type { TemplateDefinition } from "./grammar.js";
import type { TableFields } from "./templates.js";

type Defaults = Omit<TemplateDefinition, "name" | "package">;

const FACTORY: Defaults = { registrar: "view.admin" };

const TRANSFER: Defaults = {
  registrar: "view.transfer.instrumentId.admin",
  choices: "transfer-instruction",
  roles: { sender: "view.transfer.sender", receiver: "view.transfer.receiver" },
  accounts: { own: ["view.transfer.sender", "view.transfer.receiver"] },
  refs: { holdings: "view.transfer.inputHoldingCids.*" },
  instrument: "view.transfer.instrumentId.id",
  deadline: "view.transfer.executeBefore",
};

/** Of an allocation, and of an instruction to make one. */
const LEG: Defaults = {
  registrar: "view.allocation.transferLeg.instrumentId.admin",
  roles: {
    sender: "view.allocation.transferLeg.sender",
    receiver: "view.allocation.transferLeg.receiver",
    executor: "view.allocation.settlement.executor",
  },
  accounts: { own: "view.allocation.transferLeg.sender", others: "view.allocation.transferLeg.receiver" },
  instrument: "view.allocation.transferLeg.instrumentId.id",
  deadline: "view.allocation.settlement.settleBefore",
};

const SIDES: Defaults = {
  registrar: "view.allocation.admin",
  roles: {
    sender: "view.allocation.authorizer",
    receiver: "view.allocation.transferLegSides.*.otherside",
    executor: "view.settlement.executors.*",
  },
  accounts: { own: "view.allocation.authorizer", others: "view.allocation.transferLegSides.*.otherside" },
  instrument: ["view.allocation.transferLegSides.*.instrumentId", "keys(view.allocation.nextIterationFunding)"],
  deadline: "view.allocation.settlementDeadline",
};

const INSTRUCTION: Defaults = { choices: "allocation-instruction", refs: { holdings: "view.inputHoldingCids.*" } };
const ALLOCATION: Defaults = { choices: "allocation", refs: { holdings: "view.holdingCids.*" } };

const HOLDING: Defaults = {
  registrar: "view.instrumentId.admin",
  instrument: "view.instrumentId.id",
  supply: { instrument: "view.instrumentId.id", amount: "view.amount" },
};

/** By version. */
const DEFAULTS: Readonly<Record<InterfaceKind, Readonly<Record<1 | 2, Defaults>>>> = {
  "transfer-factory": { 1: FACTORY, 2: FACTORY },
  "allocation-factory": { 1: FACTORY, 2: FACTORY },
  "settlement-factory": { 1: FACTORY, 2: FACTORY },
  "transfer-instruction": { 1: TRANSFER, 2: TRANSFER },
  "allocation-instruction": { 1: { ...LEG, ...INSTRUCTION }, 2: { ...SIDES, ...INSTRUCTION } },
  allocation: { 1: { ...LEG, ...ALLOCATION }, 2: { ...SIDES, ...ALLOCATION } },
  holding: { 1: { ...HOLDING, roles: { holder: "view.owner" } }, 2: { ...HOLDING, roles: { holder: "view.account" } } },
};

/** The interfaces that a template names: `transfer-instruction` in each version, `transfer-instruction/2` in one. */
export function interfacesOf({
  implements: named = [],
}: Pick<TemplateDefinition, "implements">): readonly TokenInterface[] {
  const names = typeof named === "string" ? [named] : named;
  return TOKEN_INTERFACES.filter(({ kind, version }) =>
    names.some((one) => one === kind || one === `${kind}/${version}`),
  );
}

/** The choices that are made on contracts of a template. */
export const choicesOf = (definition: TemplateDefinition): string | undefined =>
  definition.choices ?? interfacesOf(definition).flatMap(({ kind }) => DEFAULTS[kind][1].choices ?? [])[0];

/** Reads contracts by the views that they show: version 2 where one shows both, since 1 has special accounts as parties. */
export class Views {
  readonly #definitions: ReadonlyMap<TokenInterface, TemplateDefinition>;
  readonly #label: string;

  constructor(definition: TemplateDefinition) {
    const named = interfacesOf(definition).toSorted((a, b) => b.version - a.version);
    this.#definitions = new Map(named.map((one) => [one, withDefaults(definition, DEFAULTS[one.kind][one.version])]));
    this.#label = [...new Set(named.map(({ kind }) => kind))].join(" or ");
  }

  /** The names of those that a contract shows, and of the actions that its view of version 2 has. */
  shownBy({ views }: ShownContract): Pick<TableFields, "interfaces" | "actions"> {
    const shown = [...this.#definitions.keys()].filter((one) => views.has(one));
    const interfaces = shared(shown.map(({ kind, version }) => `${kind}/${version}`));
    const actions = shown.flatMap((one) => actionsIn(views.get(one)) ?? [])[0];
    return actions === undefined ? { interfaces } : { interfaces, actions: shared(actions) };
  }

  /** The definition with the paths of the view, and the content that all its paths are in. Throws an Error without a view. */
  read(content: JsonObject, shown: ShownContract | undefined): [TemplateDefinition, JsonObject] {
    for (const [one, definition] of this.#definitions) {
      const view = shown?.views.get(one);
      if (view !== undefined) return [definition, { ...content, view }];
    }
    throw new Error(`the contract shows no view of ${this.#label}: request it with includeInterfaceView`);
  }
}

const MAX_LISTS = 1_000;
const lists = new Map<string, readonly string[]>();

/** Contracts have few different lists: equal ones are one. */
function shared(list: readonly string[]): readonly string[] {
  const key = list.join();
  const known = lists.get(key);
  if (known !== undefined) return known;
  if (lists.size === MAX_LISTS) lists.clear();
  lists.set(key, list);
  return list;
}

/** Of `[[{"tag":"TIA_Accept"},[["alice"]]]]` it is accept: a map from actions to the groups of parties that may take them. */
function actionsIn(view: JsonObject | undefined): [readonly string[]] | undefined {
  const { availableActions } = view ?? {};
  if (!Array.isArray(availableActions)) return undefined;
  const taken = availableActions.flatMap((entry) => {
    const [action = null, groups = null] = Array.isArray(entry) ? entry : [];
    const tag = isObject(action) ? action.tag : undefined;
    return typeof tag === "string" && Array.isArray(groups) && groups.length > 0 ? tag : [];
  });
  return [taken.map((tag) => tag.replace(/^[A-Z]+_/, "").toLowerCase())];
}

const withDefaults = (given: TemplateDefinition, defaults: Defaults): TemplateDefinition => ({
  ...defaults,
  ...given,
  roles: { ...defaults.roles, ...given.roles },
  accounts: { ...defaults.accounts, ...given.accounts },
  refs: { ...defaults.refs, ...given.refs },
});
