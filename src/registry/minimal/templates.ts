import { JsonReader, type Instrument, indexKey, type Template } from "../sdk/index.js";

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
