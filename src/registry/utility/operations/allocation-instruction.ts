import { invalid } from "../../errors.js";
import type { ChoiceQuestion, Scene } from "../../registry.js";
import { keys } from "../kinds/keys.js";
import { allocationFactory } from "../kinds/services.js";
import { notServed } from "./found.js";

/** Always throws: an allocation is made at once, so no instruction to make one is ever pending. */
export async function allocationInstruction(
  { view }: Scene,
  { registrar = "", contractId }: ChoiceQuestion,
): Promise<never> {
  const [factories] = await view.read([{ kind: allocationFactory, key: keys.factory(registrar) }]);
  if (factories.length === 0) throw notServed(registrar);
  throw invalid(
    `${contractId} cannot be an allocation instruction: this registry has none that are pending, ` +
      "since the allocation factory makes an allocation at once",
  );
}
