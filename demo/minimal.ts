/** The demo of the minimal registry: one token, a pending transfer, an allocation. */
import type { JsonObject } from "../src/util/json.js";
import { createElements, party } from "./element.js";

const template = (entity: string) => ({ packageName: "minimal-token-v1", qualifiedName: `Minimal.Token:${entity}` });
export const rules = template("Rules");
export const transferInstruction = template("TransferInstruction");
export const allocation = template("Allocation");

const { active } = createElements(1000);
const admin = party("coffee-club");
const sender = party("alice");
const receiver = party("bob");

export const elements: readonly JsonObject[] = [
  active(rules, "rules of the coffee club", { admin, symbol: "BEAN", name: "Coffee beans", decimals: "0" }),
  active(transferInstruction, "beans to bob", { admin, sender, receiver, amount: "3.0000000000" }),
  active(allocation, "beans for a trade", { admin, sender, receiver, amount: "2.0000000000" }),
];
