/** Sets a token up on a running LocalNet. Run again it changes nothing. */
import { chmod, readFile, writeFile } from "node:fs/promises";
import { signToken } from "./access.js";
import { readDar } from "./dar.js";
import { SetUpError } from "./error.js";
import { actAs, findContracts, LocalNet, readAs, type Token } from "./localnet.js";
import type { Command, Participant } from "./participant.js";
import { type InstrumentOfFile, kindOf, type TokenFile, type TokenKind } from "./token.js";
import { holdingsOf, offersTo, Wallet } from "./wallet.js";

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
  /** To how many synchronizers each has to be connected. */
  readonly synchronizers: number;
  readonly service: ServiceAccess;
  /** Where the names, symbols and decimals of the instruments are written for the service; undefined for nowhere. */
  readonly instrumentsFile: string | undefined;
  readonly report: Report;
}

/** The user of the service, who may read as the issuer. */
interface ServiceAccess {
  /** Undefined for the user of the first participant: with OAuth2 the identity provider has the users. */
  readonly user: string | undefined;
  /** How its tokens are signed; undefined where users are an identity provider's, or nobody authenticates. */
  readonly signing: { readonly secret: string; readonly audience: string; readonly file: string } | undefined;
}

/** Called after each step, with whether it has changed anything. */
export type Report = (step: string, did: string, changed: boolean) => void;

/** Throws SetUpError or LedgerError. */
export async function up(options: UpOptions): Promise<Token> {
  const { participants, token: file, waitMs, synchronizers: count, report } = options;
  const kind = await kindOf(file.token);
  const net = await LocalNet.connect(participants, {
    waitMs,
    synchronizers: count,
    onWait: (participant, why) => report(participant.name, `waits: ${why}`, false),
  });
  for (const [{ name }, ids] of net.synchronizers)
    report(name, `is connected to ${ids.map(shortId).join(", ")}`, false);
  await upload(net, options);
  const party = await allocateIssuer(net, file.issuer, report);
  await allocateParties(net, file.parties, report);
  const contracts = await createContracts(net, kind, party, file.instruments, report);
  await serviceUser(net.host, party, options.service, report);
  if (options.instrumentsFile !== undefined) await writeInstruments(options.instrumentsFile, party, file, report);
  const token = { kind, issuer: { participant: net.host, party }, ...contracts };
  await balances(net, token, options);
  return token;
}

/** On every participant and synchronizer: a package that one has not vetted makes transfers fail that involve it. */
async function upload(net: LocalNet, { dars, report }: UpOptions): Promise<void> {
  for (const path of dars) {
    const dar = await readDar(path);
    for (const [participant, synchronizerIds] of net.synchronizers)
      for (const synchronizerId of synchronizerIds) {
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

async function allocateIssuer(net: LocalNet, hint: string, report: Report): Promise<string> {
  const { host } = net;
  const known = await host.parties(hint);
  const local = known.find(({ isLocal }) => isLocal);
  const elsewhere = known.find(({ isLocal }) => !isLocal);
  if (local === undefined && elsewhere !== undefined)
    throw new SetUpError(
      `the party ${elsewhere.id} is hosted by another participant than ${host.name}: ` +
        `name that one first, or give the token another issuer`,
    );
  const issuer = local?.id ?? (await host.allocate(hint, net.commonSynchronizer));
  report("issuer", issuer, local === undefined);
  // Participants that do not authenticate have no rights to give.
  await host.grant(await host.user(), [actAs(issuer)]);
  return issuer;
}

async function allocateParties(net: LocalNet, parties: TokenFile["parties"], report: Report): Promise<void> {
  for (const [hint, name] of Object.entries(parties)) {
    const participant = net.participants.find((one) => one.name === name);
    if (participant === undefined)
      throw new SetUpError(`the participant ${name} of the party ${hint} is not among those given`);
    const local = (await participant.parties(hint)).find(({ isLocal }) => isLocal);
    const id = local?.id ?? (await participant.allocate(hint, net.commonSynchronizer));
    report(hint, id, local === undefined);
  }
}

/** Creates what is missing, and replaces what has other arguments: rules that list fewer instruments. */
async function createContracts(
  net: LocalNet,
  kind: TokenKind,
  issuer: string,
  instruments: readonly InstrumentOfFile[],
  report: Report,
): Promise<Pick<Token, "rules" | "synchronizerId">> {
  const contracts = await findContracts(net.host, kind, issuer, instruments);
  // Where the token is already: a contract that is created elsewhere could not be used with it.
  const existing = contracts.flatMap(({ found, earlier }) => [...(found === undefined ? [] : [found]), ...earlier]);
  const synchronizerId = existing[0]?.synchronizerId ?? net.commonSynchronizer;
  const ids: string[] = [];
  for (const { wanted, found, earlier } of contracts) {
    const { templateId, argument, name } = wanted;
    let contractId = found?.contractId;
    if (contractId === undefined) {
      const archive = earlier.map((one): Command => ({
        templateId,
        contractId: one.contractId,
        choice: "Archive",
        argument: {},
      }));
      const { created } = await net.host.submit([issuer], [...archive, { templateId, argument }], synchronizerId);
      contractId = created[0]?.contractId ?? "";
    }
    ids.push(contractId);
    report(
      name,
      `${shortId(contractId)}${found === undefined && earlier.length > 0 ? ", replaced" : ""}`,
      found === undefined,
    );
  }
  return { rules: ids[0] ?? "", synchronizerId };
}

async function serviceUser(host: Participant, issuer: string, { user, signing }: ServiceAccess, report: Report) {
  const name = user ?? (await host.user());
  const isNew = await host.grant(name, [readAs(issuer)]);
  report("user", `${name} may read as the issuer`, isNew);
  if (signing === undefined) return;
  const { secret, audience, file } = signing;
  await writeIfOther(file, signToken(secret, name, audience), 0o600, report, "token");
}

async function writeInstruments(file: string, issuer: string, { instruments }: TokenFile, report: Report) {
  const listed = instruments.map(({ id, name = id, symbol = id, decimals }) => [id, { name, symbol, decimals }]);
  // YAML has JSON in it.
  const text = `${JSON.stringify({ [issuer]: Object.fromEntries(listed) }, null, 2)}\n`;
  await writeIfOther(file, text, 0o644, report, "instruments");
}

async function writeIfOther(file: string, text: string, mode: number, report: Report, step: string): Promise<void> {
  const before = await readFile(file, "utf8").catch(() => undefined);
  try {
    if (before !== text) await writeFile(file, text, { mode });
    await chmod(file, mode);
  } catch (error) {
    throw new SetUpError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
  report(step, `${file} ${before === text ? "is there" : "written"}`, before !== text);
}

/** Gives each party its initial balance, unless it holds some or an offer waits for it. */
async function balances(net: LocalNet, token: Token, { token: file, registryUrl, report }: UpOptions): Promise<void> {
  const wallet = new Wallet(token, registryUrl);
  const admin = token.issuer.party;
  for (const { id: instrument, balances: wanted } of file.instruments)
    for (const [name, amount] of Object.entries(wanted)) {
      const { party, actor } = await net.actorIfHosted(name);
      const step = `${amount} ${instrument} for ${name}`;
      const isOf = (one: { readonly admin: string; readonly instrument: string }) =>
        one.admin === admin && one.instrument === instrument;
      if (actor !== undefined && (await holdingsOf(actor)).some(isOf)) {
        report(step, "it has some already", false);
        continue;
      }
      if (registryUrl === undefined && "hold" in token.kind.mint) {
        report(step, "no registry is given, so it is not minted", false);
        continue;
      }
      const pending = (await offersTo(party, net.host, admin)).find(isOf)?.contractId;
      const offer = pending ?? (await wallet.mint({ receiver: party, instrument, amount }));
      const why = offer === undefined ? undefined : await wallet.acceptFor(actor, offer);
      if (why !== undefined) report(step, `offered; ${why}`, pending === undefined);
      else report(step, offer === undefined ? "minted" : "minted and accepted", true);
    }
}

/** Long ids, shortened for people. */
export const shortId = (id: string): string => id.replace(/([0-9a-f]{10})[0-9a-f]{20,}/, "$1…");
