import type { MessageInitShape } from "@bufbuild/protobuf";
import type { InstrumentConfigurationSchema } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_pb.js";
import { InstrumentConfigurationService } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import type { QueryExecutor } from "../registry/executor.js";
import type { Contract, InstrumentConfiguration, Requirement } from "../registry/sdk/registry.js";
import { contractMeta } from "./messages.js";
import { bind, type ServiceBinding } from "./service-binding.js";

export function instrumentConfigurations(executor: QueryExecutor): ServiceBinding[] {
  return [
    bind(InstrumentConfigurationService, {
      async getInstrumentConfiguration({ registrar, instrumentIdentifier }) {
        const { source = "", id = "", scheme = "" } = instrumentIdentifier ?? {};
        const query = { registrar, identifier: { source, id, scheme } };
        return message(
          await executor.executeUtility((utility, context) => utility.instrumentConfiguration(context, query)),
        );
      },
      async getAllInstrumentConfigurations() {
        const configurations = await executor.executeUtility((utility, context) =>
          utility.instrumentConfigurations(context),
        );
        return { instrumentConfigurations: configurations.map(message) };
      },
    }),
  ];
}

function message(contract: Contract<InstrumentConfiguration>): MessageInitShape<typeof InstrumentConfigurationSchema> {
  const { fields } = contract;
  return {
    contract: contractMeta(contract),
    payload: {
      operator: fields.operator,
      provider: fields.provider,
      registrar: fields.registrar,
      defaultIdentifier: fields.defaultIdentifier,
      additionalIdentifiers: [...fields.additionalIdentifiers],
      issuerRequirements: fields.issuerRequirements.map(requirement),
      holderRequirements: fields.holderRequirements.map(requirement),
    },
  };
}

/** The API has the claims as one string: JSON keeps them lossless. */
function requirement({ issuer, requiredClaims }: Requirement) {
  const claims = requiredClaims.map(({ property, value }) => ({ property, value }));
  return { issuer, requiredClaims: JSON.stringify(claims) };
}
