/**
 * Every cause for which a request is refused or rejected, or for which something will fail: its status, what is wrong, and
 * what helps. Errors, warnings, explanations and the tables of docs/errors.md come from here.
 */
import type { Cause } from "./errors.js";

/**
 * Why a query fails, or a request is rejected before the rules, with the HTTP status and the code of Connect and gRPC. The
 * first of a status, or of a code, is the one that it stands for.
 */
export const reasons = {
  /** The query is malformed or incomplete, or names another registrar. */
  invalid: [400, "invalid_argument"],
  "path-too-long": [414, "invalid_argument"],
  unauthenticated: [401, "unauthenticated"],
  denied: [403, "permission_denied"],
  /** A requested or required object does not exist. */
  "not-found": [404, "not_found"],
  /** A contract is between synchronizers, or the required contracts share none. */
  conflict: [409, "aborted"],
  /** The service is not configured for the query, or its participant does not support it. */
  unsupported: [501, "unimplemented"],
  "unknown-operation": [404, "unimplemented"],
  exhausted: [429, "resource_exhausted"],
  "too-large": [413, "resource_exhausted"],
  late: [504, "deadline_exceeded"],
  /** The service cannot answer now; retrying later may succeed. */
  unavailable: [503, "unavailable"],
  defect: [500, "internal"],
} as const satisfies Readonly<Record<string, readonly [http: number, code: string]>>;

export type Reason = keyof typeof reasons;

/** The HTTP status of a reason. */
export const httpStatus = (reason: Reason): number => reasons[reason][0];

interface CauseDefinition {
  readonly reason: Reason;
  /** What is wrong, for docs/errors.md. */
  readonly words: string;
  /** What to do, without a full stop. `{field}` stands for a field of the cause. Empty if the error says it. */
  readonly help: string;
  /** The fields of the cause, for docs/errors.md. */
  readonly fields: string;
  /** How operations fail that are answered all the same; empty if requests are refused, or the choice fails on the ledger. */
  readonly answered: string;
}

/** A row of the table: `words | help | fields | answered`. The last cells may be left out. */
const cause =
  (reason: Reason) =>
  (texts: TemplateStringsArray, ...values: readonly string[]): CauseDefinition => {
    const [words = "", help = "", fields = "", answered = ""] = String.raw({ raw: texts }, ...values).split(" | ");
    return { reason, words, help, fields, answered };
  };
const [invalid, notFound, conflict] = [cause("invalid"), cause("not-found"), cause("conflict")];
const [unavailable, exhausted] = [cause("unavailable"), cause("exhausted")];

const SEE = "or read as a party that sees it";
const ARRIVE = "Complete the reassignment of contract {contractId}, or wait until it has arrived";

/** Causes without fields, by code: of rejections before the rules, and of refusals that have no code of their own. */
export const rejections = {
  "malformed-message": invalid`the bytes are no message of the operation, or a field has the wrong type`,
  "invalid-field": invalid`a field violates the proto files`,
  "arguments-too-complex": invalid`choice arguments have [too many levels or keys](security.md#limits)`,
  "invalid-argument": invalid`a wrong or missing field, such as an admin other than the registrar of the path`,
  "malformed-url": invalid`Host and path are no URL`,
  "path-too-long": cause("path-too-long")`the path with its query exceeds 12 KiB`,
  "protocol-error": invalid`the request violates its protocol, which may prescribe \`unimplemented\` or \`internal\``,
  "token-missing": cause("unauthenticated")`no bearer token`,
  "token-invalid": cause("unauthenticated")`the [token](browsers-and-tokens.md#tokens) is wrong: the message says why`,
  "access-denied": cause(
    "denied",
  )`without a token [the operator's port](security.md#the-operators-port) answers this machine only`,
  "not-found": notFound`something is unknown`,
  conflict: conflict`contracts are in reassignment, or on different synchronizers`,
  unsupported: cause(
    "unsupported",
  )`no [commands](participant.md#try-a-command) can be prepared | Set OFFLEDGER_LEDGER_URL and OFFLEDGER_PREPARE_USER_ID`,
  "unknown-operation": cause("unknown-operation")`gRPC alone: the path is not served`,
  "too-many-streams": exhausted`too many open streams of changes, health or reflection`,
  "too-many-messages": exhausted`too many requests on one stream of reflection`,
  "body-too-large": cause("too-large")`the body exceeds 1 MiB, also after decompression; Connect answers 429`,
  "deadline-exceeded": cause("late")`the client's deadline, or the next message of a stream`,
  "not-ready": unavailable`no current snapshot, or its source cannot be asked`,
  overloaded: unavailable`the service sheds load, or too many searches wait`,
  "shutting-down": unavailable`the service is stopping`,
  "stream-expired": unavailable`a stream is too old`,
  "issuer-unavailable": unavailable`the keys of the token's issuer cannot be fetched`,
  internal: cause("defect")`a defect; only the log has details`,
} satisfies Readonly<Record<string, CauseDefinition>>;

/** Of what only a request shows. */
export const refusals = {
  "limit-exceeded": invalid`the request exceeds a [limit](security.md#limits); see \`OFFLEDGER_MAX_LEGS\` | Send at most {maximum} {limit} | limit (\`legs\`, \`allocations\`, \`instruments\`, \`accounts\`, \`parties\`), maximum`,
  "transfer-not-verified": invalid`the transfer is [not proven](participant.md#transfer-proofs) | Check the update id and every value of the transfer`,
  "several-groups": invalid`a settlement has allocations of several groups | Settle the allocations of each operator and provider apart | registrar, contractId`,
  "instruction-never-pending": invalid`an allocation instruction that is not pending |  | registrar, contractId`,
  "operation-not-supported": notFound`the registry does not have the operation |  | registrar`,
  "instrument-unknown": notFound`the registrar has no such instrument | Use an instrument that registrar {registrar} has | registrar, instrument`,
  "instruction-unknown": notFound`the instruction does not exist, or is new | Check the contract id and the registrar, or wait until the service has seen it | contractId, registrar of the path`,
  "instruction-archived": notFound`the instruction has been archived | Nothing can be done with it any more: use the instruction that replaced it, if there is one | contractId, registrar of the path`,
  "holding-archived": notFound`an input holding is spent | Use another holding than {contractId} | contractId, registrar`,
  "operator-unknown": notFound`there is no AllocationFactory | Create an AllocationFactory, ${SEE}`,
  "history-unavailable": notFound`transfer proofs need a service that reads a participant itself`,
  "request-unknown": notFound`this process does not keep that request | Pass the request itself`,
  "request-too-large": notFound`the request was too large to keep | Pass the request itself`,
  "holding-unread": unavailable`the participant has not told in time a holding that the answer depends on |  | contractId`,
} satisfies Readonly<Record<string, CauseDefinition>>;

/** Of what checks find too, in the order of reports. */
export const findings = {
  "blocklist-not-configured": invalid`an instrument has \`checkBlocklist\` set, and [no line](tables.md#lines) discloses the blocklist | Replace the line \`no-blocklist\` in the file of OFFLEDGER_CONTEXTS by an entry for the blocklist, with \`if: check-blocklist\` | registrar, instrument`,
  "no-registrar": notFound`no contract is of a registrar | Check that the contracts come from the registry's participant, which may have been replaced, and that it hosts the parties`,
  "nothing-visible": notFound`the parties of a participant see no contract of the registry | Check the ids of the parties, and that this participant hosts them |  | Fails on the ledger`,
  "operator-not-read": notFound`none of the parties is the operator | Transfer preapprovals and the credentials of the credential app are invisible, so that direct transfers become offers and credentials are missing: read the contracts of the operator too |  | Fails on the ledger`,
  "registrar-not-served": notFound`the registrar has no factory | Create the {template} of registrar {registrar}, ${SEE} | registrar, template`,
  "factory-missing": notFound`a group of the registrar has no AllocationFactory | Create an AllocationFactory of registrar {registrar} with the operator and provider of the instrument, ${SEE} | registrar, template`,
  "configuration-missing": notFound`an instrument has no InstrumentConfiguration | Create the InstrumentConfiguration, ${SEE} | registrar, instrument, template`,
  "rule-missing": notFound`a registrar, or a group of it, has no TransferRule | Create a TransferRule of registrar {registrar}, ${SEE} | registrar, template`,
  "credential-missing": notFound`a party lacks credentials that the [table](tables.md#changes) requires | Have {issuer} issue a credential with {claims} for {party}, valid {at}, unless the wallet adds one that is not stored here | party, issuer, claims, template`,
  "holding-missing": notFound`the holding that an instruction has locked does not exist | Reject, withdraw or cancel the instruction: it can no longer be executed | contractId, template`,
  "contract-missing": notFound`a contract of another entry does not exist | Create the {template}, ${SEE}, or change the entry | party, template`,
  "factory-moving": conflict`a factory in reassignment | ${ARRIVE} | registrar, template, contractId`,
  "configuration-moving": conflict`a configuration in reassignment | ${ARRIVE} | registrar, instrument, template, contractId`,
  "rule-moving": conflict`a rule in reassignment | ${ARRIVE} | registrar, template, contractId`,
  "credential-moving": conflict`a credential in reassignment | ${ARRIVE} | party, issuer, claims, template, contractId`,
  "holding-moving": conflict`a locked holding in reassignment | ${ARRIVE} | template, contractId`,
  "contract-moving": conflict`a contract of another entry in reassignment | ${ARRIVE} | party, template, contractId`,
  "instruction-moving": conflict`a pending instruction in reassignment | ${ARRIVE} | registrar, template, contractId`,
  "no-common-synchronizer": conflict`the contracts are on different synchronizers | Reassign contract {contractId} to synchronizer {synchronizers} | as of \`-moving\`; synchronizers: where the others are, then this one`,
  "several-contracts": conflict`there are several contracts where one may exist | Archive all but one`,
  "contract-unreadable": unavailable`a contract that may matter could not be parsed: see the log | Install a release, or correct the registry file, that can read the contract | template, contractId`,
  "shared-instrument": notFound`several groups have an instrument: without input holdings that are known, that with the newest configuration answers | Archive the configurations that are not used, or have clients name their input holdings |  | May fail on the ledger`,
  "ambiguous-identifier": notFound`an additional identifier of an instrument finds another instrument | Remove it from the additional identifiers |  | Answered with the other instrument`,
  "instruction-expired": notFound`the deadline of a pending instruction has passed | Reject, withdraw or cancel it |  | Fails on the ledger`,
  "requirement-unmet": notFound`no valid credential meets a requirement of an instrument, for any party | Have the issuer issue such a credential, or correct the requirement, unless wallets add credentials that are not stored here`,
  "credentials-split": notFound`a party has the claims of one requirement in several credentials | Have the issuer issue one credential with all of these claims`,
  "credential-expires": notFound`a credential ends within 30 days, and no other one replaces it | Have the issuer issue a new credential before then |  | Will fail on the ledger`,
  "version-not-supported": notFound`the factories of a group, of a package before 0.9.0, lack version 2 of the token standard | Use version 1 of the token standard, or create an AllocationFactory of a newer package | registrar, template, contractId`,
} satisfies Readonly<Record<string, CauseDefinition>>;

/** For information: nothing has to be done about it, and `offledger check` succeeds. */
export const INFORMATION: CauseCode = "version-not-supported";

/** All causes. */
export const causes = { ...rejections, ...refusals, ...findings };

export type CauseCode = keyof typeof causes;

/** Undefined for a code of a registry module. */
export const definitionOf = (code: string): CauseDefinition | undefined =>
  Object.hasOwn(causes, code) ? causes[code as CauseCode] : undefined;

/**
 * What helps, without a full stop; empty for codes of a registry module. `at` is the time for which it is asked, in
 * milliseconds since 1970; undefined for now.
 */
export function helpFor(found: Cause, at?: number): string {
  const { claims = [], synchronizers = [], template = "" } = found;
  const fields: Readonly<Record<string, unknown>> = {
    ...found,
    at: at === undefined ? "now" : `at ${new Date(at).toISOString()}`,
    claims: claims.map(({ property, value }) => `${property} = ${value}`).join(", ") || "any claims",
    synchronizers: synchronizers[0],
    template: template.split(":")[1] ?? "contract",
  };
  const { help = "" } = definitionOf(found.code) ?? {};
  return help.replaceAll(/\{(\w+)\}/g, (_text, name: string) => String(fields[name]));
}
