/** Runs in the browser: checks what the calls return, and what the page can read of it. */
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { TransferFactoryWithChoiceContext_TransferKind as TransferKind } from "../../src/client.js";
import type { TransferFactoryWithChoiceContext } from "../../src/client.js";
import { connect, type Protocol, type Transfer, transferFactoryV1, transferFactoryV2, type Wallet } from "./calls.js";
import { retryUnavailable } from "./retry.js";

export interface Environment {
  readonly open: string;
  readonly tokens: string;
  readonly limited: string;
  readonly starting: string;
  /** A server that accepts connections and never answers. */
  readonly silent: string;
  readonly transfer: Transfer;
  /** Whether errors must have details of google.rpc. */
  readonly expectsDetails: boolean;
}

/** Performs a check and returns what it saw. Throws if that is not what it expects. */
export type Check = (protocol: Protocol, environment: Environment) => Promise<string>;

const MAX_CALLS = 1000;
const MAX_ATTEMPTS = 15;
/** Begins every created event of Canton: field 1, the version of the serialization, here "2.1". */
const BLOB_START = [10, 3, ...new TextEncoder().encode("2.1")];

export const checks: Readonly<Record<string, Check>> = {
  retry: async (protocol, { starting, transfer }) => {
    const codes: string[] = [];
    const record = ({ code }: ConnectError) => void codes.push(Code[code]);
    await transferFactoryV2(connect(protocol, starting, [retryUnavailable(MAX_ATTEMPTS, record)]), transfer);
    require(codes.length > 0, "Unavailable at first", "a response");
    return `attempts ended with ${[...codes, "a response"].join(", ")}`;
  },

  "typed transfer-factory, version 2": async (protocol, { open, transfer }) =>
    read(await transferFactoryV2(connect(protocol, open), transfer)),

  "typed transfer-factory, version 1": async (protocol, { open, transfer }) =>
    read(await transferFactoryV1(connect(protocol, open), transfer)),

  "invalid argument": async (protocol, environment) => {
    const withoutSender = { ...environment.transfer, sender: "" };
    const error = await refusal(connect(protocol, environment.open), withoutSender, 1);
    return describe(error, Code.InvalidArgument, environment);
  },

  "token missing": async (protocol, environment) => {
    const error = await refusal(connect(protocol, environment.tokens), environment.transfer, 1);
    const challenge = error.metadata.get("www-authenticate");
    require(challenge?.startsWith("Bearer ") === true, "a challenge for a bearer token", challenge);
    return `${describe(error, Code.Unauthenticated, environment)}; www-authenticate: ${challenge}`;
  },

  "rate limit": async (protocol, environment) => {
    const error = await refusal(connect(protocol, environment.limited), environment.transfer, MAX_CALLS);
    const retryAfter = error.metadata.get("retry-after");
    require(retryAfter !== null, "retry-after", "none");
    return `${describe(error, Code.ResourceExhausted, environment)}; retry-after: ${retryAfter}`;
  },

  deadline: async (protocol, { silent, transfer }) => {
    const error = await transferFactoryV2(connect(protocol, silent), transfer, { timeoutMs: 200 }).then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
    require(error?.code === Code.DeadlineExceeded, "DeadlineExceeded", error?.message);
    return error?.message ?? "";
  },
};

function read({ factoryId, transferKind, choiceContext }: TransferFactoryWithChoiceContext): string {
  require(transferKind === TransferKind.offer, "the transfer kind offer", transferKind);
  const disclosed = choiceContext?.disclosedContracts ?? [];
  const ids = disclosed.map(({ contractId }) => contractId);
  require(ids.includes(factoryId), "the factory among the disclosed contracts", ids);
  const values = choiceContext?.choiceContextData?.values ?? {};
  const configuration = values["instrument-configuration"];
  require(configuration?.tag === "AV_ContractId", "an entry instrument-configuration", Object.keys(values));
  const kind = configuration?.value?.kind;
  require(kind?.case === "stringValue" && ids.includes(kind.value), "the id of a disclosed contract", kind);
  for (const { createdEventBlob } of disclosed) {
    const isEvent = BLOB_START.every((byte, index) => createdEventBlob[index] === byte);
    require(isEvent, "a created event as bytes", createdEventBlob);
  }
  const tags = Object.entries(values).map(([name, { tag }]) => `${name}=${tag}`);
  const sizes = disclosed.map(({ createdEventBlob }) => createdEventBlob.length);
  const shortened = `${TransferKind[transferKind]}, factory ${factoryId.slice(0, 10)}…`;
  return `${shortened}, values {${tags.toSorted().join(", ")}}, blobs of ${sizes.join(", ")} bytes`;
}

/** The error of the first of at most `maxCalls` calls that is refused. */
async function refusal(wallet: Wallet, transfer: Transfer, maxCalls: number): Promise<ConnectError> {
  for (let calls = 0; calls < maxCalls; calls++) {
    try {
      await transferFactoryV1(wallet, transfer);
    } catch (error) {
      return ConnectError.from(error);
    }
  }
  throw new Error(`expected a refusal, but ${maxCalls} calls succeeded`);
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
  require(violation?.field.includes("sender") === true, "the field sender", violation?.field);
  return `${info.reason}, ${violation?.field}: ${violation?.description}`;
}

function require(holds: boolean, expected: string | undefined, actual: unknown): void {
  if (!holds) throw new Error(`expected ${expected}, but got ${String(actual)}`);
}
