/** The participants of a LocalNet, their parties, and the token that an issuer has there. */
import { isDeepStrictEqual } from "node:util";
import { SetUpError } from "./error.js";
import type { ActiveContract, JsonObject, Participant } from "./participant.js";
import type { InstrumentOfFile, OwnContract, TokenKind } from "./token.js";

export interface ConnectOptions {
  /** How long participants may take to be there, in milliseconds. */
  readonly waitMs: number;
  /** To how many synchronizers each has to be connected; a LocalNet connects to a second one some time after the first. */
  readonly synchronizers: number;
  readonly onWait?: (participant: Participant, why: string) => void;
}

/** A party that one of the participants hosts, whose user may act as it. */
export interface Actor {
  readonly participant: Participant;
  readonly party: string;
}

export class LocalNet {
  /** The first hosts the issuer. */
  readonly participants: readonly [Participant, ...Participant[]];
  /** Of each participant, by id. */
  readonly synchronizers: ReadonlyMap<Participant, readonly string[]>;

  /** The first on which all participants meet. */
  readonly commonSynchronizer: string;

  private constructor(
    participants: readonly [Participant, ...Participant[]],
    synchronizers: ReadonlyMap<Participant, readonly string[]>,
    commonSynchronizer: string,
  ) {
    this.participants = participants;
    this.synchronizers = synchronizers;
    this.commonSynchronizer = commonSynchronizer;
  }

  /** Waits for the participants. Throws SetUpError or LedgerError, also if they do not meet on any synchronizer. */
  static async connect(
    participants: readonly [Participant, ...Participant[]],
    { waitMs, synchronizers: count, onWait }: ConnectOptions,
  ): Promise<LocalNet> {
    const synchronizers = new Map<Participant, readonly string[]>();
    for (const participant of participants)
      synchronizers.set(
        participant,
        await participant.synchronizers(count, waitMs, (why) => onWait?.(participant, why)),
      );
    const all = [...synchronizers.values()];
    const common = all[0]?.find((id) => all.every((ids) => ids.includes(id)));
    if (common === undefined)
      throw new SetUpError("the participants have no synchronizer in common: connect them to one");
    return new LocalNet(participants, synchronizers, common);
  }

  get host(): Participant {
    return this.participants[0];
  }

  /** By its id, or its hint. Its participant is undefined if it is not one of these. Throws SetUpError if nobody knows it. */
  async findParty(name: string): Promise<{ readonly participant: Participant | undefined; readonly party: string }> {
    const [hint = ""] = name.split("::");
    let elsewhere: string | undefined;
    for (const participant of this.participants)
      for (const { id, isLocal } of await participant.parties(hint)) {
        if (name.includes("::") && id !== name) continue;
        if (isLocal) return { participant, party: id };
        elsewhere ??= id;
      }
    if (elsewhere === undefined) throw new SetUpError(`no participant knows the party ${name}: allocate it first`);
    return { participant: undefined, party: elsewhere };
  }

  /** `actor` is undefined if none of the participants hosts the party. Throws SetUpError if nobody knows it. */
  async actorIfHosted(name: string): Promise<{ readonly party: string; readonly actor: Actor | undefined }> {
    const { participant, party } = await this.findParty(name);
    return { party, actor: participant === undefined ? undefined : await this.actor(party) };
  }

  /** Throws SetUpError if none of the participants hosts the party. */
  async actor(name: string): Promise<Actor> {
    const { participant, party } = await this.findParty(name);
    if (participant === undefined) {
      const names = this.participants.map((one) => one.name).join(", ");
      throw new SetUpError(`the party ${party} is hosted by none of the participants ${names}: add its participant`);
    }
    await participant.grant(await participant.user(), [actAs(party)]);
    return { participant, party };
  }
}

export const actAs = (party: string): JsonObject => ({ kind: { CanActAs: { value: { party } } } });
export const readAs = (party: string): JsonObject => ({ kind: { CanReadAs: { value: { party } } } });

/** A token that has been set up. */
export interface Token {
  readonly kind: TokenKind;
  readonly issuer: Actor;
  /** The contract id of the first of its own contracts. */
  readonly rules: string;
  /** Where its contracts are. */
  readonly synchronizerId: string;
}

/** A contract of the token, as it should be, and what there is: earlier ones differ from it. */
export interface FoundContract {
  readonly wanted: OwnContract;
  readonly found: ActiveContract | undefined;
  readonly earlier: readonly ActiveContract[];
}

export async function findContracts(
  host: Participant,
  kind: TokenKind,
  issuer: string,
  instruments: readonly InstrumentOfFile[],
): Promise<readonly FoundContract[]> {
  const contracts: FoundContract[] = [];
  for (const wanted of kind.contracts(issuer, instruments)) {
    const active = await host.active(issuer, wanted.templateId, "TemplateFilter");
    const found = active.find(({ argument }) => isDeepStrictEqual(argument, wanted.argument));
    contracts.push({
      wanted,
      found,
      earlier: active.filter((one) => !isDeepStrictEqual(one.argument, wanted.argument)),
    });
  }
  return contracts;
}

/** The token of a file. Throws SetUpError if it has not been set up. */
export async function findToken(
  net: LocalNet,
  kind: TokenKind,
  file: { readonly issuer: string; readonly instruments: readonly InstrumentOfFile[] },
): Promise<Token> {
  const { host } = net;
  const party = (await host.parties(file.issuer)).find(({ isLocal }) => isLocal)?.id;
  const [rules] = party === undefined ? [] : await findContracts(host, kind, party, file.instruments);
  const contract = rules?.found ?? rules?.earlier[0];
  if (party === undefined || contract === undefined)
    throw new SetUpError(`${host.name} has no token of ${file.issuer}: run offledger-localnet up first`);
  const { contractId, synchronizerId } = contract;
  return { kind, issuer: await net.actor(party), rules: contractId, synchronizerId };
}
