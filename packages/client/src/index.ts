/**
 * Clients of offledger: every service and message, for any transport of Connect.
 *
 *     const transfers = createClient(TransferInstructionServiceV2, createConnectTransport({ baseUrl }));
 *     const { factoryId } = await transfers.getTransferFactory({ registrarParty, typedArguments });
 *
 * Names are those of the proto files, with two additions. Services, and messages that versions 1 and 2 of the token
 * standard define differently, end with their version. Messages of the utility API that share a name with the token
 * standard begin with `Utility`.
 */
export * from "./cached-registry.js";
export * from "./choice-arguments.js";
export * from "./messages.js";
export * from "./services.js";
export * from "./utility.js";
