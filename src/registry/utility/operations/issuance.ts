import type { FactoryAnswer, IssuanceQuestion, Scene } from "../../registry.js";
import type { Entry } from "../context/entries.js";
import { factoryWith } from "./factory.js";

const create: readonly Entry[] = ["instrument-configuration", "issuer-credentials"];
const burnMint: readonly Entry[] = [...create, "app-reward-configuration", "featured-app-right"];

/** The factory for making an offer or a request to mint or burn: all four need the same. */
export function issuanceFactory(scene: Scene, question: IssuanceQuestion): FactoryAnswer {
  return answer(scene, question, create);
}

/** The factory for burning and minting at once. */
export function burnMintFactory(scene: Scene, question: IssuanceQuestion): FactoryAnswer {
  return answer(scene, question, burnMint);
}

function answer(
  scene: Scene,
  { registrar, instrumentId, holders }: IssuanceQuestion,
  entries: readonly Entry[],
): FactoryAnswer {
  return factoryWith(scene, registrar, entries, { instruments: [instrumentId], issuers: [...new Set(holders)] });
}
