/** Sets a token up on a running LocalNet. Run again it changes nothing. */
import { chmod, readFile, writeFile } from "node:fs/promises";
import { type Command, type JsonObject, LedgerError, type Participant, signToken } from "./participant.js";
import { kindOf, type InstrumentOfFile, type Mint, SetUpError, type TokenFile, type TokenKind } from "./token.js";
import { readDar } from "./dar.js";
import { acceptOffer, heldBy, pendingFor } from "./wallet.js";

export interface UpOptions {
  /** The first hosts the issuer. */
  readonly participants: readonly [Participant, ...Participant[]];
  readonly token: TokenFile;
  /** Paths of DARs: that of the token, and what else is to be uploaded. */
  readonly dars: readonly string[];
  /** The running service; undefined if nobody gets initial balances yet. */
  readonly registryUrl: string | undefined;
  /** How long participants may take to be there, in milliseconds. */
  readonly waitMs: number;
  readonly service: ServiceAccess;
  /** Where the names, symbols and decimals of the instruments are written for the service; undefined for nowhere. */
  readonly instrumentsFile: string | undefined;
  readonly report: Report;
}

/** The user of the service, who may read as the issuer. */
interface ServiceAccess {
  readonly user: string;
  /** How its tokens are signed; undefined where users are an identity provider's, or nobody authenticates. */
  readonly signing: { readonly secret: string; readonly audience: string; readonly file: string } | undefined;
}

/** Called after each step, with whether it has changed anything. */
export type Report = (step: string, did: string, changed: boolean) => void;

export interface SetUp {
  readonly issuer: string;
  /** Where the token's contracts are. */
  readonly synchronizerId: string;
  /** What OFFLEDGER_REGISTRY is to be. */
  readonly registry: string;
}

/** Throws SetUpError or LedgerError. */
export async function up(options: UpOptions): Promise<SetUp> {
  const { participants, token, report } = options;
  const kind = await kindOf(token.token);
  const [host] = participants;
  const synchronizers = new Map<Participant, readonly string[]>();
  for (const participant of participants) {
    const ids = await participant.synchronizers(options.waitMs, (why) =>
      report(participant.name, `waits: ${why}`, false),
    );
    synchronizers.set(participant, ids);
    report(participant.name, `is connected to ${ids.map(shortId).join(", ")}`, false);
  }
  await upload(options, synchronizers);
  // One on which all participants meet.
  const synchronizerId = (synchronizers.get(host) ?? []).find((id) =>
    [...synchronizers.values()].every((ids) => ids.includes(id)),
  );
  if (synchronizerId === undefined)
    throw new SetUpError("the participants have no synchronizer in common: connect them to one");
  const issuer = await allocateIssuer(host, token.issuer, synchronizerId, report);
  const contracts = await createContracts(host, kind, issuer, token.instruments, synchronizerId, report);
  await serviceUser(host, issuer, options.service, report);
  if (options.instrumentsFile !== undefined) await writeInstruments(options.instrumentsFile, issuer, token, report);
  const [rules = ""] = contracts;
  await balances(options, { kind, issuer, rules, synchronizerId });
  return { issuer, synchronizerId, registry: kind.registry };
}

/** On every participant and synchronizer: a package that one has not vetted makes transfers fail that involve it. */
async function upload(
  { participants, dars, report }: UpOptions,
  synchronizers: ReadonlyMap<Participant, readonly string[]>,
): Promise<void> {
  for (const path of dars) {
    const dar = await readDar(path);
    for (const participant of participants)
      for (const synchronizerId of synchronizers.get(participant) ?? []) {
        const vetted = await participant.vetted(dar.name, dar.version, synchronizerId);
        const at = `${participant.name} on ${shortId(synchronizerId)}`;
        if (vetted.includes(dar.packageId)) {
          report(dar.name, `${dar.version} is vetted by ${at}`, false);
          continue;
        }
        const [other] = vetted;
        if (other !== undefined)
          throw new SetUpError(
            `${path} has ${dar.name} ${dar.version} with package id ${dar.packageId}, but ${at} has it as ${other}: ` +
              `use the DAR of the network`,
          );
        await participant.upload(dar.bytes, synchronizerId);
        report(dar.name, `${dar.version} uploaded, and vetted by ${at}`, true);
      }
  }
}

async function allocateIssuer(
  host: Participant,
  hint: string,
  synchronizerId: string,
  report: Report,
): Promise<string> {
  const known = await host.parties(hint);
  const local = known.find(({ isLocal }) => isLocal);
  const elsewhere = known.find(({ isLocal }) => !isLocal);
  if (local === undefined && elsewhere !== undefined)
    throw new SetUpError(
      `the party ${elsewhere.id} is hosted by another participant than ${host.name}: ` +
        `name that one first, or give the token another issuer`,
    );
  const issuer = local?.id ?? (await host.allocate(hint, synchronizerId));
  report("issuer", issuer, local === undefined);
  // Participants that do not authenticate have no rights to give.
  await host.grant(host.user, [actAs(issuer)]);
  return issuer;
}

const actAs = (party: string): JsonObject => ({ kind: { CanActAs: { value: { party } } } });
const readAs = (party: string): JsonObject => ({ kind: { CanReadAs: { value: { party } } } });

async function createContracts(
  host: Participant,
  kind: TokenKind,
  issuer: string,
  instruments: readonly InstrumentOfFile[],
  synchronizerId: string,
  report: Report,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const { templateId, argument, name } of kind.contracts(issuer, instruments)) {
    const [found] = await host.active(issuer, templateId, "TemplateFilter");
    const [created] =
      found === undefined ? await host.submit([issuer], [{ templateId, argument }], synchronizerId) : [];
    const contractId = found?.contractId ?? created?.contractId ?? "";
    ids.push(contractId);
    report(name, shortId(contractId), found === undefined);
  }
  return ids;
}

async function serviceUser(host: Participant, issuer: string, { user, signing }: ServiceAccess, report: Report) {
  const isNew = await host.grant(user, [readAs(issuer)]);
  report("user", `${user} may read as the issuer`, isNew);
  if (signing === undefined) return;
  const { secret, audience, file } = signing;
  await writeIfOther(file, signToken(secret, user, audience), 0o600, report, "token");
}

async function writeInstruments(file: string, issuer: string, { instruments }: TokenFile, report: Report) {
  const listed = instruments.map(({ id, name = id, symbol = id, decimals }) => [id, { name, symbol, decimals }]);
  // YAML has JSON in it.
  await writeIfOther(
    file,
    `${JSON.stringify({ [issuer]: Object.fromEntries(listed) }, null, 2)}\n`,
    0o644,
    report,
    "instruments",
  );
}

async function writeIfOther(file: string, text: string, mode: number, report: Report, step: string): Promise<void> {
  const before = await readFile(file, "utf8").catch(() => undefined);
  if (before !== text) await writeFile(file, text, { mode });
  await chmod(file, mode);
  report(step, `${file} ${before === text ? "is there" : "written"}`, before !== text);
}

interface Minting {
  readonly kind: TokenKind;
  readonly issuer: string;
  readonly rules: string;
  readonly synchronizerId: string;
}

/** Brings each party to its initial balance: what it holds, and offers that wait for it, count. */
async function balances(options: UpOptions, minting: Minting): Promise<void> {
  const { token, report } = options;
  for (const { id: instrument, balances: wanted } of token.instruments)
    for (const [name, amount] of Object.entries(wanted)) {
      const found = await findParty(options.participants, name);
      if (found === undefined) throw new SetUpError(`no participant knows the party ${name}: allocate it first`);
      const { participant, party } = found;
      const of = { issuer: minting.issuer, instrument };
      const isThere = participant !== undefined && (await heldBy(participant, party, of)) > 0n;
      const step = `${amount} ${instrument} for ${name}`;
      if (isThere) {
        report(step, "it has some already", false);
        continue;
      }
      const [host] = options.participants;
      const [pending] = await pendingFor(host, party, of, minting.issuer);
      const offer = pending ?? (await mint(host, minting, { receiver: party, instrument, amount }));
      if (participant === undefined || options.registryUrl === undefined) {
        const why = participant === undefined ? "its participant is not among those given" : "no registry is given";
        report(step, `offered; ${why}, so it is not accepted`, pending === undefined);
        continue;
      }
      await participant.grant(participant.user, [actAs(party)]);
      await acceptOffer(participant, party, offer, minting.issuer, options.registryUrl, minting.synchronizerId);
      report(step, "minted and accepted", true);
    }
}

/** Offers new holdings. Returns the contract id of the offer. */
async function mint(host: Participant, { kind, issuer, rules, synchronizerId }: Minting, what: Mint) {
  const command: Command = kind.offerMint(issuer, rules, what);
  const offer = kind.offerIn(await host.submit([issuer], [command], synchronizerId));
  if (offer === undefined) throw new LedgerError("the token's mint has made no offer", undefined, undefined);
  return offer;
}

/** By its id, or its hint. Its participant is undefined if it is not one of these. */
async function findParty(participants: readonly Participant[], name: string) {
  const [hint = ""] = name.split("::");
  let elsewhere: string | undefined;
  for (const participant of participants)
    for (const { id, isLocal } of await participant.parties(hint)) {
      if (name.includes("::") && id !== name) continue;
      if (isLocal) return { participant, party: id };
      elsewhere ??= id;
    }
  return elsewhere === undefined ? undefined : { participant: undefined, party: elsewhere };
}

/** Long ids, shortened for people. */
const shortId = (id: string): string => id.replace(/([0-9a-f]{10})[0-9a-f]{20,}/, "$1…");
