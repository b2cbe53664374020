/**
 * The library of a wallet, as published, uses the service as its registry: transfers and allocations. It is installed in a
 * temporary folder, because the project does not depend on it.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { JsonObject } from "../../src/util/json.js";
import type { Instrument } from "./instrument.js";
import type { Report } from "./flows.js";
import { type Created, createdOf } from "./ledger.js";

const PACKAGE = "@canton-network/core-token-standard-service";
const TYPES = "@canton-network/core-types";
const VERSION = "1.8.0";
const INSTALL_MS = 300_000;

interface Exercise {
  readonly templateId: string;
  readonly contractId: string;
  readonly choice: string;
  readonly choiceArgument: JsonObject;
}

export type Prepared = Promise<readonly [exercise: Exercise, disclosed: readonly object[]]>;

/** What is used of the library. */
export interface TokenStandardService {
  readonly transfer: {
    createTransfer(
      sender: string,
      receiver: string,
      amount: string,
      instrumentAdmin: string,
      instrumentId: string,
      registryUrl: string,
      inputs: readonly string[],
    ): Prepared;
    createAcceptTransferInstruction(contractId: string, registryUrl: string): Prepared;
    createRejectTransferInstruction(contractId: string, registryUrl: string): Prepared;
    createWithdrawTransferInstruction(contractId: string, registryUrl: string): Prepared;
  };
  readonly allocation: {
    createAllocationInstruction(
      specification: JsonObject,
      expectedAdmin: string,
      registryUrl: string,
      inputs: readonly string[],
      requestedAt?: string,
    ): Prepared;
    fetchExecuteTransferChoiceContext(
      contractId: string,
      registryUrl: string,
    ): Promise<{ readonly choiceContextData: JsonObject; readonly disclosedContracts: readonly JsonObject[] }>;
    createExecuteTransferAllocation(contractId: string, registryUrl: string): Prepared;
    createWithdrawAllocation(contractId: string, registryUrl: string): Prepared;
    createCancelAllocation(contractId: string, registryUrl: string): Prepared;
  };
  instrumentsToAsset(registryUrl: string): Promise<readonly { readonly id: string; readonly admin: string }[]>;
}

type Create<T> = new (...args: readonly unknown[]) => T;

export async function wallet(instruments: readonly Instrument[], report: Report): Promise<void> {
  await withLibrary(async (load) => {
    for (const instrument of instruments) {
      const { ledger } = instrument;
      await useWallet(instrument, await load(ledger.url, "participant_admin", ledger.token()), report);
    }
  });
}

/** Creates the library for a participant, a user of it and its token, if it authenticates. */
type Load = (url: string, userId: string, token: string | undefined) => Promise<TokenStandardService>;

export async function withLibrary(run: (load: Load) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "offledger-wallet-"));
  try {
    await install(folder);
    await run((url, userId, token) => loadLibrary(folder, url, userId, token));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function install(folder: string): Promise<void> {
  const manifest = { private: true, dependencies: { [PACKAGE]: VERSION }, overrides: { [TYPES]: VERSION } };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts"];
  await promisify(execFile)("npm", args, { cwd: folder, timeout: INSTALL_MS });
}

async function loadLibrary(folder: string, url: string, userId: string, token = ""): Promise<TokenStandardService> {
  const modules = join(folder, "node_modules", "@canton-network");
  const imported = async (name: string): Promise<unknown> =>
    import(pathToFileURL(join(modules, name, "dist", "index.js")).href);
  const { TokenStandardService: Service } = (await imported("core-token-standard-service")) as {
    readonly TokenStandardService: Create<TokenStandardService>;
  };
  const { LedgerProvider } = (await imported("core-provider-ledger")) as {
    readonly LedgerProvider: Create<object>;
  };
  const accessToken = () => Promise.resolve(token);
  const accessTokenProvider = {
    getAccessToken: accessToken,
    getAuthContext: async () => ({ userId, accessToken: await accessToken() }),
  };
  const provider = new LedgerProvider({ baseUrl: new URL(url), accessTokenProvider });
  return new Service(provider, silent, accessTokenProvider, false);
}

const nothing = () => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

async function useWallet(of: Instrument, library: TokenStandardService, report: Report): Promise<void> {
  const { alice, bob, executor, registrar, id } = of;
  const registryUrl = of.service.url + of.standard("").replace(/\/registry\/$/, "");
  const { transfer, allocation } = library;
  const submit = async (actAs: readonly string[], prepared: Prepared): Promise<Created> => {
    const [{ choiceArgument: argument, ...exercise }, disclosed] = await prepared;
    return of.ledger.submit(actAs, { ...exercise, argument }, disclosed);
  };
  const start = async (receiver: string): Promise<Created> => {
    const inputs = [await of.holding(alice)];
    return submit([alice], transfer.createTransfer(alice, receiver, "3.0", registrar, id, registryUrl, inputs));
  };
  const offer = async () => createdOf(await start(bob), "TransferOffer");
  const allocate = async () => {
    const inputs = [await of.holding(alice)];
    const prepared = allocation.createAllocationInstruction(of.allocation(), registrar, registryUrl, inputs);
    return createdOf(await submit([alice], prepared), "DvpLegAllocation");
  };
  const all = [executor, alice, bob];
  const steps: readonly [name: string, run: () => Promise<unknown>][] = [
    [
      "instruments",
      async () => {
        const assets = await library.instrumentsToAsset(registryUrl);
        if (!assets.some((asset) => asset.id === id && asset.admin === registrar)) throw new Error("not listed");
      },
    ],
    ["accept", async () => submit([bob], transfer.createAcceptTransferInstruction(await offer(), registryUrl))],
    ["reject", async () => submit([bob], transfer.createRejectTransferInstruction(await offer(), registryUrl))],
    ["withdraw", async () => submit([alice], transfer.createWithdrawTransferInstruction(await offer(), registryUrl))],
    ["self", () => start(alice)],
    ["direct", () => of.preapproved(bob, async () => void (await start(bob)))],
    ["execute", async () => submit(all, allocation.createExecuteTransferAllocation(await allocate(), registryUrl))],
    [
      "withdraw allocation",
      async () => submit([alice], allocation.createWithdrawAllocation(await allocate(), registryUrl)),
    ],
    ["cancel", async () => submit(all, allocation.createCancelAllocation(await allocate(), registryUrl))],
  ];
  for (const [name, run] of steps) await report(`${of.name} wallet ${name}`, async () => void (await run()));
}
