import type { MessageInitShape } from "@bufbuild/protobuf";
import type { InstrumentConfigurationSchema } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_pb.js";
import { InstrumentConfigurationService } from "../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { invalidField } from "../domain/errors.js";
import type { QueryExecutor } from "./executor.js";
import { pageSize } from "./instrument-directory.js";
import type { Recording } from "./recorder.js";
import type { Contract, InstrumentConfiguration, Requirement } from "../registry/sdk/registry.js";
import { contractMeta } from "./messages.js";
import { bind, type ServiceBinding } from "./service-binding.js";

export function instrumentConfigurations(executor: QueryExecutor): ServiceBinding {
  const all = async (recording?: Recording) =>
    executor.executeUtility((utility, context) => utility.instrumentConfigurations(context), recording);
  return bind(InstrumentConfigurationService, {
    async getInstrumentConfiguration({ registrar, instrumentIdentifier }, recording) {
      const { source = "", id = "", scheme = "" } = instrumentIdentifier ?? {};
      const query = { registrar, identifier: { source, id, scheme } };
      return executor.executeUtility(
        (utility, context) => message(utility.instrumentConfiguration(context, query)),
        recording,
      );
    },
    async getAllInstrumentConfigurations(_request, recording) {
      const configurations = await all(recording);
      return configurations.convert((found) => ({ instrumentConfigurations: found.map(message) }));
    },
    async listInstrumentConfigurations({ page, size }, recording) {
      // Before the look-up: a wrong request is rejected in every state of the service.
      const range = pageRange(page, size);
      const configurations = await all(recording);
      return configurations.convert((found) => ({
        instrumentConfigurations: found.toSorted(oldestFirst).slice(range.start, range.end).map(message),
        currentPage: range.page,
        totalPages: Math.ceil(found.length / range.size),
        pageSize: range.size,
        totalElements: found.length,
      }));
    },
  });
}

/** Pages count from 0: the Utilities API does not say where they start. Throws "invalid" for one before. */
function pageRange(page = 0, requestedSize?: number) {
  if (page < 0) throw invalidField("page", `must be at least 0, but is ${page}`);
  const size = pageSize(requestedSize);
  return { page, size, start: page * size, end: (page + 1) * size };
}

/** By creation time, then by contract id. */
function oldestFirst(a: Contract, b: Contract): number {
  if (a.createdMicros !== b.createdMicros) return a.createdMicros - b.createdMicros;
  return a.contractId < b.contractId ? -1 : 1;
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
