import type { MessageInitShape } from "@bufbuild/protobuf";
import type { InstrumentConfigurationSchema } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_pb.js";
import { InstrumentConfigurationService } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import type { Engine } from "../registry/engine.js";
import type { Contract, InstrumentConfiguration, Requirement } from "../registry/registry.js";
import { contractMeta } from "./answers.js";
import { offer, type Offered } from "./handlers.js";

/** Look-ups of the contracts that configure instruments. */
export function instrumentConfigurations(engine: Engine): Offered[] {
  return [
    offer(InstrumentConfigurationService, {
      async getInstrumentConfiguration({ registrar, instrumentIdentifier }) {
        const { source = "", id = "", scheme = "" } = instrumentIdentifier ?? {};
        const question = { registrar, identifier: { source, id, scheme } };
        return message(await engine.askUtility((utility, scene) => utility.instrumentConfiguration(scene, question)));
      },
      async getAllInstrumentConfigurations() {
        const found = await engine.askUtility((utility, scene) => utility.instrumentConfigurations(scene));
        return { instrumentConfigurations: found.map(message) };
      },
    }),
  ];
}

function message(contract: Contract<InstrumentConfiguration>): MessageInitShape<typeof InstrumentConfigurationSchema> {
  const { facts } = contract;
  return {
    contract: contractMeta(contract),
    payload: {
      operator: facts.operator,
      provider: facts.provider,
      registrar: facts.registrar,
      defaultIdentifier: facts.defaultIdentifier,
      additionalIdentifiers: [...facts.additionalIdentifiers],
      issuerRequirements: facts.issuerRequirements.map(requirement),
      holderRequirements: facts.holderRequirements.map(requirement),
    },
  };
}

/** The API gives the claims as one string: JSON text loses nothing of them. */
function requirement({ issuer, requiredClaims }: Requirement) {
  const claims = requiredClaims.map(({ property, value }) => ({ property, value }));
  return { issuer, requiredClaims: JSON.stringify(claims) };
}
