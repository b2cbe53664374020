import type { MessageInitShape } from "@bufbuild/protobuf";
import type { InstrumentSchema, RegistrarSchema } from "../../../gen/offledger/console/v1/console_pb.js";
import type { Requirement, ServedInstrument, ServedRegistrar } from "../../registry/sdk/registry.js";
import { contractMessage, type PackageVersion } from "../explain/contract-message.js";

/** A registry may know only the ids of its instruments. */
export interface ListedRegistrar extends Pick<ServedRegistrar, "party"> {
  readonly instruments: readonly ListedInstrument[];
  readonly services?: ServedRegistrar["services"];
}
type ListedInstrument = Pick<ServedInstrument, "id"> & Partial<ServedInstrument>;

const MAX_REGISTRARS = 1_000;
/** Of one registrar, and of all together. */
const MAX_INSTRUMENTS = 1_000;
const MAX_ALL_INSTRUMENTS = 10_000;
/** Of one registrar: each upgrade may leave older ones. */
const MAX_SERVICES = 100;

export function registrarMessages(
  registrars: readonly ListedRegistrar[],
  packageVersion: PackageVersion,
): { readonly messages: MessageInitShape<typeof RegistrarSchema>[]; readonly omitted: number } {
  let room = MAX_ALL_INSTRUMENTS;
  const messages = registrars.slice(0, MAX_REGISTRARS).map(({ party, instruments, services = [] }) => {
    const shown = instruments.slice(0, Math.min(room, MAX_INSTRUMENTS));
    room -= shown.length;
    return {
      party,
      instruments: shown.map((instrument) => instrumentMessage(instrument, packageVersion)),
      services: services
        .slice(0, MAX_SERVICES)
        .map(({ name, contract }) => ({ name, contract: contractMessage(contract, packageVersion) })),
      omittedInstruments: instruments.length - shown.length,
    };
  });
  return { messages, omitted: registrars.length - messages.length };
}

const instrumentMessage = (
  {
    id,
    otherIds = [],
    paused = false,
    checksBlocklist = false,
    holderRequirements = [],
    issuerRequirements = [],
    configuration,
  }: ListedInstrument,
  packageVersion: PackageVersion,
): MessageInitShape<typeof InstrumentSchema> => ({
  id,
  otherIds: [...otherIds],
  paused,
  checksBlocklist,
  holderRequirements: holderRequirements.map(issuerClaims),
  issuerRequirements: issuerRequirements.map(issuerClaims),
  ...(configuration !== undefined && { configuration: contractMessage(configuration, packageVersion) }),
});

const issuerClaims = ({ issuer, requiredClaims }: Requirement) => ({ issuer, claims: [...requiredClaims] });
