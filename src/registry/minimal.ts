/** Smallest registry: one Rules contract is every factory, no choice needs context. See docs/your-own-registry.md. */
import {
  argumentsReader,
  type Choice,
  conflict,
  type Contract,
  type FactoryAnswer,
  type FactoryQuery,
  indexKey,
  type Instrument,
  invalid,
  JsonReader,
  notFound,
  partyOf,
  type Registry,
  type RequestContext,
  type Template,
} from "./sdk/index.js";

const PACKAGE = "minimal-token-v1";

/** The token's rules: the factory of transfers, allocations and settlements. */
export interface Rules {
  readonly admin: string;
  readonly instrument: Instrument;
}

export const rulesOf = (admin: string): string => indexKey("rules", admin);

export const rules: Template<Rules> = {
  packageName: PACKAGE,
  qualifiedName: "Minimal.Token:Rules",
  parse(payload) {
    const fields = new JsonReader(payload, "");
    const admin = fields.id("admin");
    const instrument = {
      id: fields.id("symbol"),
      otherIds: [],
      name: fields.text("name"),
      symbol: fields.id("symbol"),
      decimals: fields.wholeNumber("decimals", 0, 10),
    };
    return { fields: { admin, instrument }, indexKeys: [rulesOf(admin)] };
  },
  registrarOf: ({ admin }) => admin,
};

export interface Instruction {
  readonly admin: string;
}

export const transferInstruction = instruction("Minimal.Token:TransferInstruction");
export const allocation = instruction("Minimal.Token:Allocation");

function instruction(qualifiedName: string): Template<Instruction> {
  return {
    packageName: PACKAGE,
    qualifiedName,
    parse: (payload) => ({ fields: { admin: new JsonReader(payload, "").id("admin") }, indexKeys: [] }),
    registrarOf: ({ admin }) => admin,
  };
}

export const minimalRegistry: Registry = {
  name: "minimal token",
  templates: [rules, transferInstruction, allocation],
  supportedApis: {
    "splice-api-token-metadata-v1": 2,
    "splice-api-token-transfer-instruction-v1": 1,
    "splice-api-token-transfer-instruction-v2": 1,
    "splice-api-token-allocation-v1": 1,
    "splice-api-token-allocation-v2": 1,
    "splice-api-token-allocation-instruction-v1": 1,
    "splice-api-token-allocation-instruction-v2": 1,
  },

  instruments(context, registrar) {
    return [rulesContract(context, registrar).fields.instrument];
  },

  transferFactory(context, query) {
    const transfer = argumentsReader(query).object("transfer");
    const isSelf = partyOf(transfer, "sender", query.registrar) === partyOf(transfer, "receiver", query.registrar);
    const instrument = transfer.object("instrumentId");
    checkInstrument(instrument, rulesContract(context, query.registrar));
    return {
      ...factory(context, query),
      transferKind: isSelf ? "self" : "offer",
      instrumentId: instrument.id("id"),
    };
  },
  allocationFactory: factory,
  settlementFactory: factory,

  choiceContext({ view }, choice, { registrar, contractId }) {
    const template = templates[choice];
    if (template === undefined)
      throw invalid("this registry has no allocation instructions: its factory makes an allocation at once");
    const contract = view.byId(template, contractId);
    if (contract === undefined || contract.fields.admin !== registrar) {
      throw notFound(`contract ${contractId} of registrar ${registrar} is not known here`);
    }
    checkAssigned(contract);
    return { values: [], disclosed: [] };
  },

  inventory(view) {
    const held = view.all(rules);
    const templateCounts = view.templateCounts();
    return {
      registrars: held.map(({ fields: { admin, instrument } }) => ({
        party: admin,
        instruments: [{ source: admin, id: instrument.id, scheme: "Minimal" }],
      })),
      counts: templateCounts.map(({ template: { qualifiedName }, count }) => ({ qualifiedName, count })),
      warnings: [],
    };
  },
};

/** The template that has each choice; undefined for choices that this token does not have. */
const templates: Record<Choice, Template<Instruction> | undefined> = {
  "transfer-instruction/accept": transferInstruction,
  "transfer-instruction/reject": transferInstruction,
  "transfer-instruction/withdraw": transferInstruction,
  "allocation-instruction/accept": undefined,
  "allocation-instruction/withdraw": undefined,
  "allocation/execute-transfer": allocation,
  "allocation/withdraw": allocation,
  "allocation/cancel": allocation,
};

/** The Rules contract is the factory of every choice and the only contract to disclose. */
function factory(context: RequestContext, query: FactoryQuery): FactoryAnswer {
  const { registrar } = query;
  const fields = argumentsReader(query);
  const expected = fields.optionalId("expectedAdmin") ?? registrar;
  if (expected !== registrar) {
    const problem = `is ${expected}, but the registrar of the request is ${registrar}`;
    throw invalid(`expectedAdmin ${problem}`, { field: fields.path("expectedAdmin"), problem });
  }
  const contract = rulesContract(context, registrar);
  checkAssigned(contract);
  return { factoryId: contract.contractId, values: [], disclosed: [contract] };
}

function checkInstrument(instrument: JsonReader, { fields: { admin, instrument: token } }: Contract<Rules>): void {
  const [named, id] = [instrument.id("admin"), instrument.id("id")];
  if (named !== admin) throw instrument.invalid("admin", `is ${named}, but the registrar of the request is ${admin}`);
  if (id !== token.id) throw notFound(`registrar ${admin} has no instrument "${id}"`);
}

/** The newest Rules contract of a registrar: contracts come newest first. */
function rulesContract({ view }: RequestContext, registrar: string): Contract<Rules> {
  const [contract] = view.byKey(rules, rulesOf(registrar));
  if (contract === undefined) throw notFound(`registrar ${registrar} is not served here`);
  return contract;
}

/** A contract in reassignment cannot be disclosed. */
function checkAssigned({ contractId, synchronizerId }: Contract): void {
  if (synchronizerId === undefined) throw conflict(`contract ${contractId} is being reassigned between synchronizers`);
}
