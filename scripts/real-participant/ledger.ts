/** The JSON Ledger API of a participant, as far as the flows need it. */
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { abortAfter } from "../../src/util/async.js";

/** What the script that onboards the packages wrote. */
export interface Onboarded {
  /** Party ids by short name. */
  readonly parties: Readonly<Record<string, string>>;
  /** By short name; `provider` is a short name too, `configs` has the instruments. */
  readonly registrars: Readonly<
    Record<string, { readonly provider: string; readonly configs: Readonly<Record<string, string>> }>
  >;
}

export const readOnboarded = (path: string): Onboarded => JSON.parse(readFileSync(path, "utf8")) as Onboarded;

export interface Command {
  readonly templateId: string;
  /** Absent to create a contract. */
  readonly contractId?: string;
  readonly choice?: string;
  readonly argument: JsonObject;
}

/** A command that the ledger does not accept. */
export class RejectedError extends Error {
  override readonly name = "RejectedError";
}

/** Contract ids by the entity of their template, in the order of creation. */
export type Created = Readonly<Record<string, readonly string[]>>;

interface CreatedEvent {
  readonly contractId: string;
  readonly templateId: string;
}

const REQUEST_MS = 60_000;
const run = randomBytes(4).toString("hex");

export class Ledger {
  #commands = 0;
  #parties = 0;

  /** `token` returns the token of the administrator; undefined if the participant does not authenticate. */
  constructor(
    readonly url: string,
    readonly token: () => string | undefined,
  ) {}

  /** Sends a request; throws an Error with the answer unless its status is 200. */
  async call(method: "GET" | "POST", path: string, body?: object): Promise<JsonObject> {
    const { status, answer } = await this.#send(method, path, body);
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer).slice(0, 500)}`);
    return answer as JsonObject;
  }

  /** Submits as these parties alone, and waits. Throws RejectedError. */
  async submit(actAs: readonly string[], command: Command, disclosed: readonly object[] = []): Promise<Created> {
    const { templateId, contractId, choice, argument } = command;
    const { status, answer } = await this.#send("POST", "/v2/commands/submit-and-wait-for-transaction", {
      commands: {
        commandId: `${run}-${++this.#commands}`,
        userId: "participant_admin",
        actAs: [...actAs],
        readAs: [],
        commands: [
          contractId === undefined
            ? { CreateCommand: { templateId, createArguments: argument } }
            : { ExerciseCommand: { templateId, contractId, choice: choice ?? "", choiceArgument: argument } },
        ],
        disclosedContracts: disclosed,
        packageIdSelectionPreference: [],
      },
      transactionFormat: {
        eventFormat: { filtersByParty: Object.fromEntries(actAs.map((party) => [party, EVERYTHING])), verbose: false },
        transactionShape: "TRANSACTION_SHAPE_LEDGER_EFFECTS",
      },
    });
    if (status !== 200) {
      const { code, cause } = answer as { readonly code?: string; readonly cause?: string };
      throw new RejectedError(`${code ?? status}: ${cause ?? JSON.stringify(answer)}`);
    }
    const { transaction } = answer as unknown as {
      readonly transaction: { readonly events: readonly { readonly CreatedEvent?: CreatedEvent }[] };
    };
    const created: Record<string, string[]> = {};
    for (const { CreatedEvent: event } of transaction.events) {
      if (event === undefined) continue;
      const entity = event.templateId.split(":").at(-1) ?? "";
      created[entity] = [...(created[entity] ?? []), event.contractId];
    }
    return created;
  }

  /** A new party of the participant, as which participant_admin acts. */
  async party(hint: string): Promise<string> {
    const body = { partyIdHint: `${hint}-${run}-${++this.#parties}`, identityProviderId: "" };
    const { partyDetails } = await this.call("POST", "/v2/parties", body);
    const { party } = partyDetails as { readonly party: string };
    if (this.token() !== undefined) {
      const rights = [{ kind: { CanActAs: { value: { party } } } }];
      const userId = "participant_admin";
      await this.call("POST", `/v2/users/${userId}/rights`, { userId, identityProviderId: "", rights });
    }
    return party;
  }

  /** Uploads a DAR. Whether the participant had not all its packages. */
  async upload(dar: Uint8Array): Promise<boolean> {
    const before = await this.#packages();
    await this.call("POST", "/v2/packages", dar);
    return (await this.#packages()) > before;
  }

  async #packages(): Promise<number> {
    const { packageIds } = await this.call("GET", "/v2/packages");
    return (packageIds as readonly string[]).length;
  }

  async #send(method: "GET" | "POST", path: string, body?: object) {
    const token = this.token();
    return abortAfter(REQUEST_MS, NEVER, async (signal) => {
      const response = await fetch(this.url + path, {
        method,
        headers: {
          "content-type": body instanceof Uint8Array ? "application/octet-stream" : "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
        signal,
      });
      return { status: response.status, answer: jsonOf(await response.text()) };
    });
  }
}

const NEVER = new AbortController().signal;

const EVERYTHING: JsonObject = {
  cumulative: [{ identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: false } } } }],
};

function jsonOf(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

const part = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token of a user, signed with the secret of a participant for tests (`unsafe-jwt-hmac-256`). */
export function signToken(secret: string, user: string, seconds: number): string {
  const claims = { sub: user, scope: "daml_ledger_api", exp: Math.floor(Date.now() / 1000) + seconds };
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

/** The first contract of the entity. */
export function createdOf(created: Created, entity: string): string {
  const [contractId] = created[entity] ?? [];
  if (contractId === undefined) throw new Error(`no ${entity} was created, but ${Object.keys(created).join(", ")}`);
  return contractId;
}

const app = "#utility-registry-app-v0:Utility.Registry.App.V0";
const standard = "#splice-api-token";

export const templates = {
  factory: `${app}.Service.AllocationFactory:AllocationFactory`,
  service: `${app}.Service.Registrar:RegistrarService`,
  preapproval: `${app}.Model.TransferPreapproval:TransferPreapproval`,
  MintOffer: `${app}.Model.Mint:MintOffer`,
  MintRequest: `${app}.Model.Mint:MintRequest`,
  BurnOffer: `${app}.Model.Burn:BurnOffer`,
  BurnRequest: `${app}.Model.Burn:BurnRequest`,
  rule: "#utility-registry-v0:Utility.Registry.V0.Rule.Transfer:TransferRule",
  configuration: "#utility-registry-v0:Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration",
  holding: "#utility-registry-holding-v0:Utility.Registry.Holding.V0.Holding:Holding",
  credential: "#utility-credential-v0:Utility.Credential.V0.Credential:Credential",
  transferFactory: `${standard}-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory`,
  transferInstruction: `${standard}-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferInstruction`,
  allocationFactory: `${standard}-allocation-instruction-v1:Splice.Api.Token.AllocationInstructionV1:AllocationFactory`,
  allocation: `${standard}-allocation-v1:Splice.Api.Token.AllocationV1:Allocation`,
  burnMintFactory: `${standard}-burn-mint-v1:Splice.Api.Token.BurnMintV1:BurnMintFactory`,
} as const;
