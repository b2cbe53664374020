import type { MessageInitShape } from "@bufbuild/protobuf";
import type { InstrumentSchema } from "../../gen/offledger/metadata/v1/metadata_pb.js";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import type { InstrumentDirectory, ListedInstrument } from "../registry/instrument-directory.js";
import type { QueryExecutor } from "../registry/executor.js";
import { bind, type ServiceBinding } from "./service-binding.js";

/** What a registrar's registry offers, and its instruments. */
export function metadata(executor: QueryExecutor, directory: InstrumentDirectory): ServiceBinding[] {
  return [
    bind(MetadataService, {
      getRegistryInfo: ({ registrarParty }) =>
        executor.execute((registry, context) => {
          // Throws where the registrar is not served.
          registry.instruments(context, registrarParty);
          return { adminId: registrarParty, supportedApis: { ...registry.supportedApis } };
        }),
      async listInstruments({ registrarParty, pageSize, pageToken }) {
        const { instruments, nextPageToken } = await directory.page(registrarParty, pageSize, pageToken);
        return { instruments: instruments.map(message), ...(nextPageToken !== undefined && { nextPageToken }) };
      },
      getInstrument: async ({ registrarParty, instrumentId }) =>
        message(await directory.instrument(registrarParty, instrumentId)),
    }),
  ];
}

function message({ description, supply, ...instrument }: ListedInstrument): MessageInitShape<typeof InstrumentSchema> {
  return {
    ...instrument,
    supportedApis: { ...instrument.supportedApis },
    ...(description !== undefined && { description }),
    ...(supply !== undefined && { totalSupply: supply.total, totalSupplyAsOf: timeText(supply.asOf) }),
  };
}

/** Microseconds since 1970 in the form that the ledger has for times. */
function timeText(micros: number): string {
  const fraction = String(micros % 1000).padStart(3, "0");
  return new Date(Math.floor(micros / 1000)).toISOString().replace("Z", `${fraction}Z`);
}
