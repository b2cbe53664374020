import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  Candidate,
  Contract,
  Disclosure,
  ExplainResponse,
  RequiredClaim,
  Requirement,
  Search,
} from "../../gen/offledger/explain/v1/explain_pb.js";
import { printableLine } from "../util/printable.js";

/** How a request is answered, for people. Ids are complete, so that they can be copied. */
export function formatExplanation(explained: ExplainResponse): string {
  const { operation, at, offset, changes, notes } = explained;
  const { searches, requirements, disclosures, validUntil } = explained;
  const sections = [
    [operation, `answered as at ${time(at)}, with the contracts of offset ${offset}`],
    outcome(explained),
    section(
      "what would have to change",
      changes.map(({ help }) => `  - ${help}`),
    ),
    section(
      "notes",
      notes.map((note) => `  - ${note}`),
    ),
    section("looked for", searches.flatMap(formatSearch)),
    section("claims", requirements.flatMap(formatRequirement)),
    section("disclosed", disclosures.flatMap(formatDisclosure)),
    validUntil === undefined ? [] : [`may change without a new contract at ${time(validUntil)}`],
  ];
  // A line break of a caller must not begin a line of its own.
  const texts = sections.filter((lines) => lines.length > 0).map((lines) => lines.map(printableLine).join("\n"));
  return `${texts.join("\n\n")}\n`;
}

function outcome({ succeeds, status, error, causes }: ExplainResponse): string[] {
  if (succeeds) return ["the request succeeds"];
  const listed = causes.length === 0 ? [error] : causes.map(({ code, message }) => `${code}: ${message}`);
  return [`the request is refused: ${status}`, ...listed.map((line) => `  ${line}`)];
}

function formatSearch(search: Search): string[] {
  const { name, template, synchronizer, entries, required, candidates, omittedCandidates } = search;
  const details = [
    ...(template === "" || name.includes(template) ? [] : [template]),
    ...(synchronizer === "" ? [] : [`on synchronizer ${synchronizer}`]),
    ...(entries.length === 0 ? [] : [`for ${entries.join(", ")}`]),
  ];
  return [
    `  ${name} (${required ? "required" : "optional"})`,
    ...details.map((detail) => `    ${detail}`),
    ...(candidates.length === 0 ? ["    none found"] : candidates.flatMap(formatCandidate)),
    ...moreLine("    ", omittedCandidates),
  ];
}

const moreLine = (indent: string, omitted: number): string[] => (omitted === 0 ? [] : [`${indent}and ${omitted} more`]);

function formatCandidate({ contract, chosen, reason }: Candidate): string[] {
  if (contract === undefined) return [];
  return [
    `    ${chosen ? "chosen" : "passed over"} ${contract.contractId}${chosen ? "" : `: ${reason}`}`,
    `      ${describe(contract)}`,
  ];
}

function describe({ packageName, packageVersion, packageId, synchronizer, createdAt }: Contract): string {
  const version = packageVersion === "" ? `package ${packageId}` : packageVersion;
  const place = synchronizer === "" ? "between synchronizers" : `on ${synchronizer}`;
  return `created ${time(createdAt)}, ${packageName} (${version}), ${place}`;
}

function formatRequirement({ party, issuer, instruments, synchronizer, required, claims }: Requirement): string[] {
  const consequence = required
    ? ""
    : ": without them the wallet has to add credentials, or the choice fails on the ledger";
  return [
    `  ${party} from issuer ${issuer} (${required ? "required" : "optional"}${consequence})`,
    `    for ${instruments.join(", ")}`,
    ...(synchronizer === "" ? [] : [`    on synchronizer ${synchronizer}`]),
    ...claims.flatMap(formatClaim),
  ];
}

function formatClaim(required: RequiredClaim): string[] {
  const { property, value, credential, validUntil, passedOver, omittedPassedOver } = required;
  // A requirement without claims is met by any credential of the issuer.
  const claim = property === "" ? "any credential" : `${property} = ${value}`;
  const end = validUntil === undefined ? "" : `, until ${time(validUntil)}`;
  return [
    credential === "" ? `    missing ${claim}` : `    met     ${claim} by ${credential}${end}`,
    ...passedOver.flatMap(({ contract, reason }) =>
      contract === undefined ? [] : [`      passed over ${contract.contractId}: ${reason}`],
    ),
    ...moreLine("      ", omittedPassedOver),
  ];
}

const formatDisclosure = ({ contract, entries }: Disclosure): string[] =>
  contract === undefined
    ? []
    : [
        `  ${contract.contractId}`,
        `    ${contract.template}${entries.length === 0 ? "" : `, for ${entries.join(", ")}`}`,
      ];

const time = (timestamp: Timestamp | undefined): string =>
  timestamp === undefined ? "an unknown time" : timestampDate(timestamp).toISOString();

const section = (title: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : [title, ...lines]);
