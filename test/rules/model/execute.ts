/** Sends a request of the model to the registry, and reduces the answer to what the model predicts. */
import { RegistryError } from "../../../src/domain/errors.js";
import type { QueryExecutor } from "../../../src/registry/executor.js";
import type { Recording } from "../../../src/registry/recorder.js";
import { supportedApisOf } from "../../../src/registry/instrument-directory.js";
import type { AnyValue, Contract, ContextAnswer, NamedValue } from "../../../src/registry/sdk/registry.js";
import type { Status } from "./expected.js";
import type { Request } from "./requests.js";

/** A context value: contract ids and flags without their tags, which `untagged` has checked. */
export type Value = string | boolean | readonly Value[] | ReadonlyMap<string, Value>;

export type Actual =
  | { readonly status: 400 | 404 | 409; readonly message: string }
  | { readonly status: 200; readonly answer: ActualAnswer };

export interface ActualAnswer {
  readonly factoryId?: string;
  readonly transferKind?: string;
  /** In order. */
  readonly values?: readonly { readonly key: string; readonly value: Value }[];
  /** Contract ids, in order. */
  readonly disclosed?: readonly string[];
  readonly contractIds?: readonly string[];
  readonly instruments?: readonly { readonly id: string; readonly paused: boolean }[];
  readonly supportedApis?: Readonly<Record<string, number>>;
  readonly party?: string;
}

const statusOf: Readonly<Record<string, Status>> = { invalid: 400, "not-found": 404, conflict: 409 };

const created = {
  "mint-offer/create": "mint-offer",
  "mint-request/create": "mint-request",
  "burn-offer/create": "burn-offer",
  "burn-request/create": "burn-request",
} as const;

/** Throws an error that is no RegistryError, and one that a client could not have caused. */
export async function execute(executor: QueryExecutor, request: Request, recording?: Recording): Promise<Actual> {
  try {
    return { status: 200, answer: await send(executor, request, recording) };
  } catch (error) {
    const status = error instanceof RegistryError ? statusOf[error.reason] : undefined;
    if (!(error instanceof RegistryError) || status === undefined) throw error;
    return { status, message: error.message };
  }
}

async function send(executor: QueryExecutor, request: Request, recording?: Recording): Promise<ActualAnswer> {
  switch (request.operation) {
    case "transfer-factory": {
      const { value: answer } = await executor.execute(
        (registry, context) => registry.transferFactory(context, request),
        recording,
      );
      return { ...contextOf(answer), factoryId: answer.factoryId, transferKind: answer.transferKind };
    }
    case "allocation-factory": {
      const { value: answer } = await executor.execute(
        (registry, context) => registry.allocationFactory(context, request),
        recording,
      );
      return { ...contextOf(answer), factoryId: answer.factoryId };
    }
    case "settlement-factory": {
      const { value: answer } = await executor.execute(
        (registry, context) => registry.settlementFactory(context, request),
        recording,
      );
      return { ...contextOf(answer), factoryId: answer.factoryId };
    }
    case "mint-offer/create":
    case "mint-request/create":
    case "burn-offer/create":
    case "burn-request/create":
    case "burn-mint-factory": {
      const { operation, registrar, instrument: instrumentId, holders } = request;
      const query = { registrar, instrumentId, holders };
      const { value: answer } = await executor.executeUtility(
        (utility, context) =>
          operation === "burn-mint-factory"
            ? utility.burnMintFactory(context, query)
            : utility.issuanceFactory(context, created[operation], query),
        recording,
      );
      return { ...contextOf(answer), factoryId: answer.factoryId };
    }
    case "instrument-configuration": {
      const { registrar, identifier } = request;
      const { value } = await executor.executeUtility(
        (utility, context) => utility.instrumentConfiguration(context, { registrar, identifier }),
        recording,
      );
      return { contractIds: [value.contractId] };
    }
    case "instrument-configurations": {
      const { value: all } = await executor.executeUtility(
        (utility, context) => utility.instrumentConfigurations(context),
        recording,
      );
      return { contractIds: all.map(({ contractId }) => contractId) };
    }
    case "instruments": {
      const { registrar } = request;
      const { value: instruments } = await executor.execute(
        (registry, context) => registry.instruments(context, registrar),
        recording,
      );
      return { instruments: instruments.map(({ id, paused = false }) => ({ id, paused })) };
    }
    case "supported-apis": {
      const { registrar } = request;
      const { value: apis } = await executor.execute(
        (registry, context) => supportedApisOf(registry, context, registrar),
        recording,
      );
      return { supportedApis: apis };
    }
    case "operator":
      return {
        party: (await executor.executeUtility((utility, context) => utility.operator(context), recording)).value,
      };
    case "transfer-instruction/accept":
    case "transfer-instruction/reject":
    case "transfer-instruction/withdraw":
    case "allocation/execute-transfer":
    case "allocation/withdraw":
    case "allocation/cancel":
    case "allocation-instruction/accept":
    case "allocation-instruction/withdraw":
      return contextOf(
        (
          await executor.execute(
            (registry, context) => registry.choiceContext(context, request.operation, request),
            recording,
          )
        ).value,
      );
    default: {
      const query = { registrar: undefined, contractId: request.contractId };
      const { value } = await executor.executeUtility(
        (utility, context) => utility.issuanceContext(context, request.operation, query),
        recording,
      );
      return contextOf(value);
    }
  }
}

function contextOf({ values, disclosed }: ContextAnswer): ActualAnswer {
  return { values: values.flatMap(namedValue), disclosed: disclosed.map(({ contractId }: Contract) => contractId) };
}

/** A value stands under its name, and then under its alias if it has one. */
const namedValue = ({ name, alias, value }: NamedValue) =>
  (alias === undefined ? [name] : [name, alias]).map((key) => ({ key, value: untagged(value) }));

function untagged(value: AnyValue): Value {
  switch (value.tag) {
    case "AV_ContractId":
    case "AV_Bool":
      return value.value;
    case "AV_List":
      return value.value.map(untagged);
    case "AV_Map":
      return new Map(value.value.map(({ name, value: inner }) => [name, untagged(inner)]));
    default:
      throw new Error(`no entry of the specification has a value with the tag ${value.tag}`);
  }
}
