import type { Engine } from "../registry/engine.js";
import { allocations } from "./allocation.js";
import { burns } from "./burn.js";
import type { Offered } from "./handlers.js";
import { instrumentConfigurations } from "./instrument-configuration.js";
import { transferInstructions } from "./transfer-instruction.js";

/** Every service that is served, with its handlers. */
export function services(engine: Engine): Offered[] {
  return [
    ...transferInstructions(engine),
    ...allocations(engine),
    ...burns(engine),
    ...instrumentConfigurations(engine),
  ];
}
