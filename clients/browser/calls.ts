/** Runs in the browser: the calls of a wallet, by a transport of connect-web. */
import { timestampDate, timestampFromDate, timestampNow } from "@bufbuild/protobuf/wkt";
import { type CallOptions, type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
// In your own project: TransferInstructionServiceV2 of "@offledger/client".
import type { TransferFactoryWithChoiceContext } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { TransferInstructionService as TransferInstructionV2 } from "../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";

const DEADLINE_MS = 15_000;
const DAY_MS = 86_400_000;

/** The transfer to ask for: parties, and an instrument of the registrar. */
export interface Transfer {
  readonly registrar: string;
  readonly sender: string;
  readonly receiver: string;
  readonly instrument: string;
}

export type Wallet = Client<typeof TransferInstructionV2>;

const transports = { connect: createConnectTransport, "grpc-web": createGrpcWebTransport } as const;
export type Protocol = keyof typeof transports;

export function connect(protocol: Protocol, baseUrl: string, interceptors: Interceptor[] = []): Wallet {
  const transport: Transport = transports[protocol]({ baseUrl, defaultTimeoutMs: DEADLINE_MS, interceptors });
  return createClient(TransferInstructionV2, transport);
}

/** Sends the arguments of version 1 of the token standard, which names parties. */
export function transferFactoryV1(
  wallet: Wallet,
  { registrar, sender, receiver, instrument }: Transfer,
  options?: CallOptions,
): Promise<TransferFactoryWithChoiceContext> {
  const transfer = { ...terms(registrar, instrument), sender, receiver };
  const value = { expectedAdmin: registrar, transfer };
  return wallet.getTransferFactory(
    { registrarParty: registrar, excludeDebugFields: true, typedArguments: { case: "transferV1", value } },
    options,
  );
}

/** Sends the arguments of version 2, which names accounts. An empty receiver is left out. */
export function transferFactoryV2(
  wallet: Wallet,
  { registrar, sender, receiver, instrument }: Transfer,
  options?: CallOptions,
): Promise<TransferFactoryWithChoiceContext> {
  const accounts = { sender: { owner: sender }, ...(receiver !== "" && { receiver: { owner: receiver } }) };
  const transfer = { ...terms(registrar, instrument), ...accounts };
  const value = { transfer, actors: [sender] };
  return wallet.getTransferFactory(
    { registrarParty: registrar, excludeDebugFields: true, typedArguments: { case: "transferV2", value } },
    options,
  );
}

function terms(admin: string, id: string) {
  const requestedAt = timestampNow();
  const executeBefore = timestampFromDate(new Date(timestampDate(requestedAt).getTime() + DAY_MS));
  return { amount: "10.0", instrumentId: { admin, id }, requestedAt, executeBefore };
}
