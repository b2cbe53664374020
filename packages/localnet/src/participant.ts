/** The JSON Ledger API of a participant of a LocalNet, as far as setting up a token needs it. */
import { setTimeout as pause } from "node:timers/promises";
import { type Access, fetchWithin } from "./access.js";
import { requirePrivate } from "./address.js";
import { SetUpError } from "./error.js";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = Readonly<Record<string, Json>>;

export interface Party {
  readonly id: string;
  /** Whether this participant hosts it, so that its users can act as the party. */
  readonly isLocal: boolean;
}

export interface ActiveContract {
  readonly contractId: string;
  readonly templateId: string;
  readonly synchronizerId: string;
  readonly argument: JsonObject;
  /** The views of the interfaces that were asked for, by `Module:Interface`. */
  readonly views: Readonly<Record<string, JsonObject>>;
}

export type Command =
  | { readonly templateId: string; readonly argument: JsonObject }
  | {
      readonly templateId: string;
      readonly contractId: string;
      readonly choice: string;
      readonly argument: JsonObject;
    };

/** A contract that a transaction has created. */
export interface Created {
  readonly contractId: string;
  readonly templateId: string;
}

export interface Transaction {
  readonly created: readonly Created[];
  /** Of the choice that was exercised; null for a contract that was created. */
  readonly result: Json;
}

/** A call that failed. `code` is Canton's, such as `PACKAGE_NAMES_NOT_FOUND`; undefined if there was no answer. */
export class LedgerError extends Error {
  override readonly name = "LedgerError";
  constructor(
    message: string,
    readonly status: number | undefined,
    readonly code: string | undefined,
  ) {
    super(message);
  }
}

const CALL_MS = 60_000;
const POLL_MS = 1_000;
const MAX_MESSAGE = 300;

export class Participant {
  readonly name: string;
  readonly url: string;
  readonly #access: Access;
  readonly #allowsPublic: boolean;
  #isChecked = false;
  #commands = 0;

  /** `url` has no slash at its end. Calls of one at a public address throw SetUpError unless that is allowed. */
  constructor(name: string, url: string, access: Access, allowsPublic = false) {
    this.name = name;
    this.url = url;
    this.#access = access;
    this.#allowsPublic = allowsPublic;
  }

  /** As whom it is called. */
  user(): Promise<string> {
    return this.#access.user();
  }

  /**
   * The synchronizers that it is connected to, by id, in a fixed order. Waits for so many; `waiting` is called once if there are
   * fewer yet.
   */
  async synchronizers(count: number, waitMs: number, waiting: (why: string) => void): Promise<readonly string[]> {
    const until = Date.now() + waitMs;
    for (let isFirst = true; ; isFirst = false) {
      const why = await this.#connected(count);
      if (typeof why !== "string") return why;
      if (Date.now() > until) throw new LedgerError(`${this.name}: ${why}`, undefined, undefined);
      if (isFirst) waiting(why);
      await pause(POLL_MS);
    }
  }

  /** Why there is none yet; an answer that no wait mends is thrown. */
  async #connected(count: number): Promise<readonly string[] | string> {
    try {
      const { connectedSynchronizers } = await this.call("GET", "/v2/state/connected-synchronizers");
      const ids = listOf(connectedSynchronizers).map((one) => textOf(objectOf(one)["synchronizerId"]));
      if (ids.length >= count) return ids.toSorted();
      return ids.length === 0
        ? "it is connected to no synchronizer"
        : `it is connected to ${ids.length} of ${count} synchronizers`;
    } catch (error) {
      if (!(error instanceof LedgerError) || (error.status !== undefined && error.status < 500)) throw error;
      return error.message;
    }
  }

  /** Uploads a DAR and vets its packages on the synchronizer. */
  async upload(dar: Uint8Array, synchronizerId: string): Promise<void> {
    const query = `vetAllPackages=true&synchronizerId=${encodeURIComponent(synchronizerId)}`;
    await this.call("POST", `/v2/dars?${query}`, dar);
  }

  /** The package ids of a name and version that it has vetted on the synchronizer. */
  async vetted(name: string, version: string, synchronizerId: string): Promise<readonly string[]> {
    const { participantId } = await this.call("GET", "/v2/parties/participant-id");
    const { vettedPackages } = await this.call("POST", "/v2/package-vetting/list", {
      packageMetadataFilter: { packageIds: [], packageNamePrefixes: [name] },
      topologyStateFilter: { participantIds: [textOf(participantId)], synchronizerIds: [synchronizerId] },
      pageToken: "",
      pageSize: 0,
    });
    return listOf(vettedPackages)
      .flatMap((one) => listOf(objectOf(one)["packages"]))
      .map(objectOf)
      .filter(({ packageName, packageVersion }) => packageName === name && packageVersion === version)
      .map(({ packageId }) => textOf(packageId));
  }

  /** The parties whose id begins with a hint, as `hint::fingerprint`. */
  async parties(hint: string): Promise<readonly Party[]> {
    const { partyDetails } = await this.call("GET", `/v2/parties?filter-party=${encodeURIComponent(hint)}`);
    return listOf(partyDetails)
      .map(objectOf)
      .map(({ party, isLocal }) => ({ id: textOf(party), isLocal: isLocal === true }))
      .filter(({ id }) => id.startsWith(`${hint}::`));
  }

  async allocate(hint: string, synchronizerId: string): Promise<string> {
    const body = { partyIdHint: hint, identityProviderId: "", synchronizerId };
    const { partyDetails } = await this.call("POST", "/v2/parties", body);
    return textOf(objectOf(partyDetails ?? {})["party"]);
  }

  /** Creates a user, and gives it rights that it does not have. Returns whether that changed anything. */
  async grant(user: string, rights: readonly JsonObject[]): Promise<boolean> {
    const path = `/v2/users/${encodeURIComponent(user)}`;
    const isNew = await this.#createUser(user);
    const { newlyGrantedRights } = await this.call("POST", `${path}/rights`, {
      userId: user,
      identityProviderId: "",
      rights,
    });
    return isNew || listOf(newlyGrantedRights).length > 0;
  }

  async #createUser(user: string): Promise<boolean> {
    try {
      await this.call("GET", `/v2/users/${encodeURIComponent(user)}`);
      return false;
    } catch (error) {
      if (!(error instanceof LedgerError) || error.status !== 404) throw error;
    }
    const created = { id: user, primaryParty: "", isDeactivated: false, identityProviderId: "" };
    await this.call("POST", "/v2/users", { user: created, rights: [] });
    return true;
  }

  /** Submits as the parties alone, on the synchronizer, and waits. */
  async submit(
    actAs: readonly string[],
    commands: readonly Command[],
    synchronizerId: string,
    disclosedContracts: readonly Json[] = [],
  ): Promise<Transaction> {
    const { transaction } = await this.call("POST", "/v2/commands/submit-and-wait-for-transaction", {
      commands: {
        commandId: `offledger-localnet-${process.pid}-${Date.now()}-${++this.#commands}`,
        userId: await this.user(),
        actAs,
        readAs: [],
        synchronizerId,
        commands: commands.map(commandOf),
        disclosedContracts,
        packageIdSelectionPreference: [],
      },
      transactionFormat: {
        eventFormat: { filtersByParty: Object.fromEntries(actAs.map((party) => [party, ANYTHING])), verbose: false },
        transactionShape: "TRANSACTION_SHAPE_LEDGER_EFFECTS",
      },
    });
    const events = listOf(objectOf(transaction)["events"]).map(objectOf);
    const [exercised] = events.flatMap(({ ExercisedEvent: event }) => (event === undefined ? [] : [objectOf(event)]));
    const created = events.flatMap(({ CreatedEvent: event }) => {
      if (event === undefined) return [];
      const { contractId, templateId } = objectOf(event);
      return [{ contractId: textOf(contractId), templateId: textOf(templateId) }];
    });
    return { created, result: exercised?.["exerciseResult"] ?? null };
  }

  /** The active contracts of a template, or an interface, that the party sees. */
  async active(
    party: string,
    id: string,
    kind: "TemplateFilter" | "InterfaceFilter",
  ): Promise<readonly ActiveContract[]> {
    const { offset } = await this.call("GET", "/v2/state/ledger-end");
    const name = kind === "TemplateFilter" ? { templateId: id } : { interfaceId: id, includeInterfaceView: true };
    const filter = { identifierFilter: { [kind]: { value: { ...name, includeCreatedEventBlob: false } } } };
    const elements = await this.#list("/v2/state/active-contracts", {
      activeAtOffset: offset ?? 0,
      eventFormat: { filtersByParty: { [party]: { cumulative: [filter] } }, verbose: false },
    });
    return elements.flatMap((element) => {
      const entry = objectOf(objectOf(element)["contractEntry"] ?? {})["JsActiveContract"];
      if (entry === undefined) return [];
      const { createdEvent, synchronizerId } = objectOf(entry);
      const { contractId, templateId, createArgument, interfaceViews } = objectOf(createdEvent);
      const views = listOf(interfaceViews).map(objectOf);
      return [
        {
          contractId: textOf(contractId),
          templateId: textOf(templateId),
          synchronizerId: textOf(synchronizerId),
          argument: objectOf(createArgument ?? {}),
          views: Object.fromEntries(
            views.map(({ interfaceId, viewValue }) => [afterPackage(textOf(interfaceId)), objectOf(viewValue ?? {})]),
          ),
        },
      ];
    });
  }

  /** Throws LedgerError unless the answer is a success. */
  async call(method: "GET" | "POST", path: string, body?: Json | Uint8Array): Promise<JsonObject> {
    return objectOf(await this.#send(method, path, body));
  }

  async #check(): Promise<void> {
    try {
      await requirePrivate(this.name, this.url);
      this.#isChecked = true;
    } catch (error) {
      if (error instanceof SetUpError) throw error;
      throw new LedgerError(`${this.url} cannot be reached: ${String(error)}`, undefined, undefined);
    }
  }

  async #list(path: string, body: JsonObject): Promise<readonly Json[]> {
    return listOf(await this.#send("POST", path, body));
  }

  async #send(method: "GET" | "POST", path: string, body?: Json | Uint8Array): Promise<Json> {
    if (!this.#isChecked && !this.#allowsPublic) await this.#check();
    const token = await this.#access.token();
    const isBytes = body instanceof Uint8Array;
    const sent = fetchWithin(CALL_MS, this.url + path, {
      method,
      headers: {
        "content-type": isBytes ? "application/octet-stream" : "application/json",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    const { response, text } = await sent.catch((error: unknown) => {
      throw new LedgerError(`${this.url} cannot be reached: ${String(error)}`, undefined, undefined);
    });
    const answer = parse(text);
    if (response.ok) return answer;
    const { code, cause } = isObject(answer) ? answer : {};
    const said = (typeof cause === "string" ? cause : text).replaceAll(/\s+/g, " ");
    const request = `${method} ${path.replace(/\?.*/, "")}: ${response.status}`;
    const help = helps[response.status] ?? helps[textOf(code)];
    const why = help === undefined ? "" : ` (${help(await this.user())})`;
    throw new LedgerError(
      `${this.name} refuses ${request} ${said.slice(0, MAX_MESSAGE)}${why}`,
      response.status,
      typeof code === "string" ? code : undefined,
    );
  }
}

const UNVETTED = () =>
  "a participant lacks a package: run up with its DAR, and with every participant that hosts a party";

/** What helps where a participant refuses, by the status or by Canton's code. */
const helps: Readonly<Record<string | number, (user: string) => string>> = {
  401: (user) => `it does not accept the token of the user ${user}: check the secret and --audience`,
  403: (user) => `the user ${user} may not do that: name one with the rights of an administrator, by --user`,
  INVALID_PRESCRIBED_SYNCHRONIZER_ID: UNVETTED,
  PACKAGE_NAMES_NOT_FOUND: UNVETTED,
  PACKAGE_SELECTION_FAILED: UNVETTED,
  TEMPLATES_OR_INTERFACES_NOT_FOUND: UNVETTED,
};

const ANYTHING = {
  cumulative: [{ identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: false } } } }],
};

const commandOf = (command: Command): JsonObject =>
  "choice" in command
    ? {
        ExerciseCommand: {
          templateId: command.templateId,
          contractId: command.contractId,
          choice: command.choice,
          choiceArgument: command.argument,
        },
      }
    : { CreateCommand: { templateId: command.templateId, createArguments: command.argument } };

/** `Module:Entity` of `package:Module:Entity`. */
const afterPackage = (id: string): string => id.replace(/^[^:]*:/, "");

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
export const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
export const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
