/** As which parties a participant is read: those that a setting names, or those that the token's own user may read as. */
import type { ReadAs } from "../../domain/ledger.js";
import type { JsonObject, JsonValue } from "../../util/json.js";
import { fieldsOf, requireObject, requireString } from "../json-fields.js";
import { LedgerError, readable } from "./errors.js";
import { callParticipant, type Endpoint } from "./http.js";

/** Where the parties are known from. */
export interface PartySource {
  /** Those that never change; undefined if they may. */
  readonly fixed: ReadAs | undefined;
  /** Those that were told last; undefined before, and while there are none. */
  readonly known: ReadAs | undefined;
  /** Asks the participant. Throws LedgerError, "no-parties" if there are none. */
  read(): Promise<ReadAs>;
  /** Those of the last 30 seconds, or those known last where the participant cannot be asked. Throws as `read`. */
  current(): Promise<ReadAs>;
}

export function namedParties(parties: readonly string[]): PartySource {
  const read = () => Promise.resolve(parties);
  return { fixed: parties, known: parties, read, current: read };
}

interface UserPartiesOptions {
  readonly endpoint: Endpoint;
  /** See Decoder. */
  readonly lacksRegistrars: boolean;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
}

/** The parties of OFFLEDGER_LEDGER_PARTIES. */
export function partySource(parties: readonly string[] | "user", options: UserPartiesOptions): PartySource {
  return parties === "user" ? new UserParties(options) : namedParties(parties);
}

const KEPT_MS = 30_000;

/** The parties of the user whose token the participant gets. Concurrent calls share a request. */
export class UserParties implements PartySource {
  readonly fixed = undefined;
  #told: { readonly parties: ReadAs; readonly askedAt: number } | undefined;
  #pending: Promise<ReadAs> | undefined;

  constructor(private readonly options: UserPartiesOptions) {}

  get known(): ReadAs | undefined {
    return this.#told?.parties;
  }

  read(): Promise<ReadAs> {
    this.#pending ??= this.#ask().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async current(): Promise<ReadAs> {
    const told = this.#told;
    if (told !== undefined && this.options.clock() - told.askedAt < KEPT_MS) return told.parties;
    return this.read().catch((error: unknown) => {
      if (told === undefined || isNoParties(error)) throw error;
      return told.parties;
    });
  }

  async #ask(): Promise<ReadAs> {
    const askedAt = this.options.clock();
    try {
      const parties = await this.#partiesOfUser();
      this.#told = { parties, askedAt };
      return parties;
    } catch (error) {
      // A participant that fails is not asked for each request.
      this.#told = this.#told === undefined || isNoParties(error) ? undefined : { ...this.#told, askedAt };
      throw error;
    }
  }

  async #partiesOfUser(): Promise<ReadAs> {
    const { endpoint, lacksRegistrars } = this.options;
    const user = await userOf(endpoint);
    const rights = await rightsOf(endpoint, user);
    if (rights.some(({ CanReadAsAnyParty }) => CanReadAsAnyParty !== undefined)) {
      if (!lacksRegistrars) return "any";
      throw noParties(
        `user ${user} may read as any party, so that nothing tells our registrars from others: ` +
          "set OFFLEDGER_REGISTRARS, or name the parties in OFFLEDGER_LEDGER_PARTIES",
      );
    }
    const parties = rights.flatMap(({ CanReadAs, CanActAs }) => partyOf(CanReadAs ?? CanActAs) ?? []);
    if (parties.length > 0) return [...new Set(parties)].toSorted();
    const kinds = rights.flatMap((kind) => Object.keys(kind));
    const has =
      kinds.length === 0 ? "no right" : `${kinds.join(", ")}, which ${kinds.length > 1 ? "give" : "gives"} no reading`;
    throw noParties(`user ${user} has ${has}: grant it CanReadAs for each party whose contracts are to be served`);
  }
}

const noParties = (message: string): LedgerError => new LedgerError("no-parties", message);

const isNoParties = (error: unknown): boolean => error instanceof LedgerError && error.kind === "no-parties";

const USER = "/v2/authenticated-user";
/** The token is of no user: the participant does not authenticate. */
const WITHOUT_USER = "INVALID_TOKEN";

/** The id of the token's user. */
async function userOf(endpoint: Endpoint): Promise<string> {
  const body = await callParticipant(endpoint, "GET", USER).catch((error: unknown) => {
    throw error instanceof LedgerError && error.code === WITHOUT_USER
      ? noParties(
          "the participant knows no user of the token, as without authentication: name the parties in OFFLEDGER_LEDGER_PARTIES",
        )
      : error;
  });
  return decoded(USER, () => requireString(requireObject(requireObject(body, "the answer").user, "user"), "id"));
}

/** Each with its kind as its only field. */
async function rightsOf(endpoint: Endpoint, user: string): Promise<readonly JsonObject[]> {
  const path = `/v2/users/${encodeURIComponent(user)}/rights`;
  const body = await callParticipant(endpoint, "GET", path);
  return decoded(path, () => {
    const { rights = [] } = requireObject(body, "the answer");
    if (!Array.isArray(rights)) throw new Error("rights must be a list");
    return rights.map((right) => requireObject(requireObject(right, "right").kind, "kind"));
  });
}

function partyOf(right: JsonValue | undefined): string | undefined {
  if (right === undefined) return undefined;
  return decoded("the rights of a user", () => requireString(requireObject(fieldsOf(right).value, "value"), "party"));
}

const decoded = <T>(what: string, decode: () => T): T =>
  readable(`the participant's answer to ${what} cannot be read`, decode);
