import type { JsonObject } from "@bufbuild/protobuf";
import { InstrumentDirectory, type OverridesByInstrument } from "./instrument-directory.js";
import type { QueryExecutor } from "./executor.js";
import { burnMintInstructions, burns, mints } from "./issuance.js";
import type { ServiceBinding } from "./service-binding.js";
import { health } from "./health.js";
import { instrumentConfigurations } from "./instrument-configuration.js";
import { metadata } from "./metadata.js";
import { operators } from "./operator.js";
import { allocationInstructions, allocations, type TransferCounter, transferInstructions } from "./token-standard.js";
import { transferProofs } from "./transfer-proof.js";

export interface ServiceOptions {
  readonly overrides: OverridesByInstrument;
  readonly countsHoldings: boolean;
  readonly openApi: JsonObject;
  /** Why the service is not ready; undefined if it is. */
  readonly notReadyReason: () => string | undefined;
  /** Undefined if nothing reads the counts. */
  readonly transfers?: TransferCounter | undefined;
}

export function services(
  executor: QueryExecutor,
  { overrides, countsHoldings, openApi, notReadyReason, transfers }: ServiceOptions,
): ServiceBinding[] {
  return [
    ...transferInstructions(executor, transfers),
    ...allocationInstructions(executor),
    ...allocations(executor),
    ...metadata(new InstrumentDirectory(executor, overrides, countsHoldings)),
    ...mints(executor),
    ...burns(executor),
    ...burnMintInstructions(executor),
    ...instrumentConfigurations(executor),
    ...transferProofs(executor),
    ...operators(executor, openApi),
    ...health(notReadyReason),
  ];
}
