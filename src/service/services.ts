import type { JsonObject } from "@bufbuild/protobuf";
import { Catalogue, type OperatorWords } from "../registry/catalogue.js";
import type { Engine } from "../registry/engine.js";
import { allocationInstructions } from "./allocation-instruction.js";
import { allocations } from "./allocation.js";
import type { Offered } from "./handlers.js";
import { health } from "./health.js";
import { instrumentConfigurations } from "./instrument-configuration.js";
import { issuances } from "./issuance.js";
import { metadata } from "./metadata.js";
import { operators } from "./operator.js";
import { transferInstructions } from "./transfer-instruction.js";
import { transferProofs } from "./transfer-proof.js";

/** What the services need besides the engine. */
export interface ServiceParts {
  /** What the operator says of instruments. */
  readonly words: OperatorWords;
  /** Whether the store counts holdings. */
  readonly countsHoldings: boolean;
  /** The document of the HTTP paths. */
  readonly openApi: JsonObject;
  /** Why the service is not ready; undefined where it is. */
  readonly unreadiness: () => string | undefined;
}

/** Every service that is served, with its handlers. */
export function services(engine: Engine, { words, countsHoldings, openApi, unreadiness }: ServiceParts): Offered[] {
  return [
    ...transferInstructions(engine),
    ...allocationInstructions(engine),
    ...allocations(engine),
    ...metadata(engine, new Catalogue(engine, words, countsHoldings)),
    ...issuances(engine),
    ...instrumentConfigurations(engine),
    ...transferProofs(engine),
    ...operators(engine, openApi),
    ...health(unreadiness),
  ];
}
