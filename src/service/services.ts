import type { JsonObject } from "@bufbuild/protobuf";
import { InstrumentDirectory, type OverridesByInstrument } from "./instrument-directory.js";
import type { QueryExecutor } from "./executor.js";
import type { ServiceBinding } from "./service-binding.js";
import { health } from "./health.js";
import { instrumentConfigurations } from "./instrument-configuration.js";
import { metadata } from "./metadata.js";
import { operations, type TransferCounter } from "./operations.js";
import { operators } from "./operator.js";
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
    ...operations(executor, transfers),
    metadata(new InstrumentDirectory(executor, overrides, countsHoldings)),
    instrumentConfigurations(executor),
    transferProofs(executor),
    operators(executor, openApi),
    health(notReadyReason),
  ];
}
