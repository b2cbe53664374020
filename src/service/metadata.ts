import type { MessageInitShape } from "@bufbuild/protobuf";
import type { InstrumentSchema } from "../../gen/offledger/metadata/v1/metadata_pb.js";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import type { Catalogue, ListedInstrument } from "../registry/catalogue.js";
import type { Engine } from "../registry/engine.js";
import { offer, type Offered } from "./handlers.js";

/** What a registrar's registry offers, and its instruments. */
export function metadata(engine: Engine, catalogue: Catalogue): Offered[] {
  return [
    offer(MetadataService, {
      getRegistryInfo: ({ registrarParty }) =>
        engine.ask((registry, scene) => {
          // Throws where the registrar is not served.
          registry.instruments(scene, registrarParty);
          return { adminId: registrarParty, supportedApis: { ...registry.supportedApis } };
        }),
      async listInstruments({ registrarParty, pageSize, pageToken }) {
        const { instruments, nextPageToken } = await catalogue.page(registrarParty, pageSize, pageToken);
        return { instruments: instruments.map(message), ...(nextPageToken !== undefined && { nextPageToken }) };
      },
      getInstrument: async ({ registrarParty, instrumentId }) =>
        message(await catalogue.instrument(registrarParty, instrumentId)),
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
