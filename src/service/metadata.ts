import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { InstrumentSchema } from "../../gen/offledger/metadata/v1/metadata_pb.js";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import type { InstrumentDirectory, ListedInstrument } from "./instrument-directory.js";
import { formatLedgerTime } from "../util/json.js";
import type { SupportedApis } from "../registry/sdk/registry.js";
import { bind, type ServiceBinding } from "./service-binding.js";

/** The registry's APIs and a registrar's instruments. */
export function metadata(directory: InstrumentDirectory): ServiceBinding {
  return bind(MetadataService, {
    getRegistryInfo({ registrarParty }, recording) {
      const info = directory.info(registrarParty, recording);
      const message = (supportedApis: SupportedApis) => ({
        adminId: registrarParty,
        supportedApis: { ...supportedApis },
      });
      return info instanceof Promise ? info.then((found) => found.convert(message)) : info.convert(message);
    },
    async listInstruments({ registrarParty, pageSize, pageToken }, recording) {
      const page = await directory.page(registrarParty, pageSize, pageToken, recording);
      return page.convert(({ instruments, nextPageToken }) => ({
        instruments: instruments.map(instrumentMessage),
        ...(nextPageToken !== undefined && { nextPageToken }),
      }));
    },
    async getInstrument({ registrarParty, instrumentId }, recording) {
      const instrument = await directory.instrument(registrarParty, instrumentId, recording);
      return instrument.convert(instrumentMessage);
    },
  });
}

function instrumentMessage(instrument: ListedInstrument): MessageInitShape<typeof InstrumentSchema> {
  const { id, name, symbol, decimals, description, supply, paused, pauseInfo } = instrument;
  const { showAccountInputFields, accountInputFieldsToShow } = instrument;
  return {
    id,
    name,
    symbol,
    decimals,
    supportedApis: { ...instrument.supportedApis },
    ...(description !== undefined && { description }),
    ...(supply !== undefined && { totalSupply: supply.total, totalSupplyAsOf: formatLedgerTime(supply.asOf) }),
    ...(paused && { paused }),
    ...(pauseInfo !== undefined && { pauseInfo }),
    ...(showAccountInputFields !== undefined && { showAccountInputFields }),
    ...(accountInputFieldsToShow !== undefined && { accountInputFieldsToShow: listValue(accountInputFieldsToShow) }),
  };
}

/** A list that, unlike a repeated field, may be absent. */
function listValue(texts: readonly string[]): MessageInitShape<typeof ListValueSchema> {
  return { values: texts.map((value) => ({ kind: { case: "stringValue", value } })) };
}
