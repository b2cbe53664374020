/** The kinds of contracts that this token has. */
import { Fields, type Instrument, key, type Kind } from "../plugin.js";

const PACKAGE = "minimal-token-v1";

/** The one contract with the rules of the token: it is the factory of transfers, allocations and settlements. */
export interface Rules {
  /** The party that issues the token: its registrar. */
  readonly admin: string;
  readonly instrument: Instrument;
}

export const rulesOf = (admin: string): string => key("rules", admin);

export const rules: Kind<Rules> = {
  packageName: PACKAGE,
  entity: "Minimal.Token:Rules",
  read(payload) {
    const fields = new Fields(payload, "");
    const admin = fields.id("admin");
    const instrument = {
      id: fields.id("symbol"),
      otherIds: [],
      name: fields.text("name"),
      symbol: fields.id("symbol"),
      decimals: fields.wholeNumber("decimals", 0, 10),
    };
    return { facts: { admin, instrument }, keys: [rulesOf(admin)] };
  },
};

/** A contract on which a choice of the standard is exercised. */
export interface Instruction {
  readonly admin: string;
}

export const transferInstruction = instruction("Minimal.Token:TransferInstruction");
export const allocation = instruction("Minimal.Token:Allocation");

function instruction(entity: string): Kind<Instruction> {
  return {
    packageName: PACKAGE,
    entity,
    read: (payload) => ({ facts: { admin: new Fields(payload, "").id("admin") }, keys: [] }),
  };
}
