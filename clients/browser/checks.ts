/** Runs in the browser: checks what the calls return, and what the page can read of it. */
import { base64Encode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import {
  type TransferFactoryWithChoiceContext,
  TransferFactoryWithChoiceContext_TransferKind as TransferKind,
} from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { connect, type Protocol, type Transfer, transferFactoryV1, transferFactoryV2, type Wallet } from "./calls.js";
import { retryUnavailable } from "./retry.js";

export interface Environment {
  readonly open: string;
  readonly tokens: string;
  readonly starting: string;
  /** Answers after some seconds. */
  readonly slow: string;
  readonly token: string;
  readonly transfer: Transfer;
  /** What the ledger has: contract ids, and the created event of the factory in base64. */
  readonly ledger: { readonly factoryId: string; readonly factoryBlob: string; readonly configurationId: string };
  /** Whether errors must have details of google.rpc. */
  readonly expectsDetails: boolean;
}

/** Performs a check and returns what it saw. Throws if that is not what it expects. */
export type Check = (protocol: Protocol, environment: Environment) => Promise<string>;

const MAX_ATTEMPTS = 15;
const WRONG_FIELD = "transfer.receiver";

export const checks: Readonly<Record<string, Check>> = {
  retry: async (protocol, { starting, transfer }) => {
    const codes: string[] = [];
    const record = ({ code }: ConnectError) => void codes.push(Code[code]);
    await transferFactoryV2(connect(protocol, starting, [retryUnavailable(MAX_ATTEMPTS, record)]), transfer);
    require(codes.length > 0, "Unavailable at first", "a response");
    return `attempts ended with ${[...codes, "a response"].join(", ")}`;
  },

  "typed transfer-factory, version 2": async (protocol, { open, transfer, ledger }) =>
    read(await transferFactoryV2(connect(protocol, open), transfer), ledger),

  "typed transfer-factory, version 1": async (protocol, { open, transfer, ledger }) =>
    read(await transferFactoryV1(connect(protocol, open), transfer), ledger),

  "invalid argument": async (protocol, environment) => {
    const withoutReceiver = { ...environment.transfer, receiver: "" };
    const error = await refusal(connect(protocol, environment.open), withoutReceiver);
    return describe(error, Code.InvalidArgument, environment);
  },

  "token missing": async (protocol, environment) => {
    const error = await refusal(connect(protocol, environment.tokens), environment.transfer);
    const challenge = error.metadata.get("www-authenticate");
    require(challenge?.startsWith("Bearer ") === true, "a challenge for a bearer token", challenge);
    return `${describe(error, Code.Unauthenticated, environment)}; www-authenticate: ${challenge}`;
  },

  token: async (protocol, { tokens, token, transfer, ledger }) => {
    const headers = { authorization: `Bearer ${token}` };
    return read(await transferFactoryV2(connect(protocol, tokens), transfer, { headers }), ledger);
  },

  deadline: async (protocol, { slow, transfer }) => {
    const error = await transferFactoryV2(connect(protocol, slow), transfer, { timeoutMs: 300 }).then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
    require(error?.code === Code.DeadlineExceeded, "DeadlineExceeded", error?.message);
    return error?.message ?? "";
  },
};

/** Reads what a wallet passes to the factory's choice and to its participant, and compares it with the ledger. */
function read(
  { factoryId, transferKind, choiceContext }: TransferFactoryWithChoiceContext,
  ledger: Environment["ledger"],
): string {
  require(factoryId === ledger.factoryId, `the factory ${ledger.factoryId}`, factoryId);
  require(transferKind === TransferKind.offer, "the transfer kind offer", transferKind);
  const values = choiceContext?.choiceContextData?.values ?? {};
  const configuration = values["utility.digitalasset.com/instrument-configuration"];
  require(configuration?.tag === "AV_ContractId", "the tag AV_ContractId", configuration?.tag);
  const kind = configuration?.value?.kind;
  const isConfiguration = kind?.case === "stringValue" && kind.value === ledger.configurationId;
  require(isConfiguration, `the configuration ${ledger.configurationId}`, kind?.value);
  const disclosed = choiceContext?.disclosedContracts ?? [];
  const blob = disclosed.find(({ contractId }) => contractId === factoryId)?.createdEventBlob;
  require(blob !== undefined && base64Encode(blob) === ledger.factoryBlob, "the factory's created event", blob);
  const tags = Object.entries(values).map(([name, { tag }]) => `${name}=${tag}`);
  const sizes = disclosed.map(({ createdEventBlob }) => createdEventBlob.length);
  const shortened = `${TransferKind[transferKind]}, factory ${factoryId.slice(0, 10)}…`;
  return `${shortened}, values {${tags.toSorted().join(", ")}}, blobs of ${sizes.join(", ")} bytes`;
}

/** The error of a call that is refused. */
async function refusal(wallet: Wallet, transfer: Transfer): Promise<ConnectError> {
  try {
    await transferFactoryV2(wallet, transfer);
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("expected a refusal, but the call succeeded");
}

function describe(error: ConnectError, expected: Code, { expectsDetails }: Environment): string {
  require(error.code === expected, Code[expected], error.message);
  require(error.rawMessage !== "", "a message", error.message);
  const described = `${Code[error.code]}: ${error.rawMessage}`;
  return expectsDetails ? `${described}; details ${details(error)}` : described;
}

/** Reads the reason, and for an invalid argument the field. */
function details(error: ConnectError): string {
  const [info] = error.findDetails(ErrorInfoSchema);
  if (info === undefined) throw new Error("expected a detail google.rpc.ErrorInfo, but got none");
  require(info.domain === "offledger", "the domain offledger", info.domain);
  if (error.code !== Code.InvalidArgument) return info.reason;
  const violation = error.findDetails(BadRequestSchema)[0]?.fieldViolations[0];
  require(violation?.field.endsWith(WRONG_FIELD) === true, `the field ${WRONG_FIELD}`, violation?.field);
  return `${info.reason}, ${violation?.field}: ${violation?.description}`;
}

function require(holds: boolean, expected: string | undefined, actual: unknown): void {
  if (!holds) throw new Error(`expected ${expected}, but got ${String(actual)}`);
}
