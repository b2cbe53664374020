#!/usr/bin/env node
/** `offledger-localnet`: sets a token up on a LocalNet, and moves it about for scripts. */
import { setTimeout as pause } from "node:timers/promises";
import { SetUpError } from "./error.js";
import { startFaucet } from "./faucet.js";
import { findToken, LocalNet, type Token } from "./localnet.js";
import { countOf, type Options, participantsOf, readOptions, registryOf, secretOf, USAGE, waitOf } from "./options.js";
import { LedgerError, type Participant } from "./participant.js";
import { checkAmount, kindOf, type Mint, readToken, type TokenFile } from "./token.js";
import { type Report, shortId, up } from "./up.js";
import { amountOf, holdingsOf, type Offer, offersTo, unitsOf, Wallet } from "./wallet.js";

/** How long an offer to accept is looked for. */
const OFFER_MS = 10_000;
const POLL_MS = 500;

interface Line {
  readonly step: string;
  readonly did: string;
  readonly changed: boolean;
  readonly ms: number;
}

async function main(args: readonly string[]): Promise<void> {
  const { command = "", values } = readOptions(args);
  if (values.help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const run = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (run === undefined)
    throw new SetUpError(`say what to do: ${Object.keys(commands).join(", ")}; offledger-localnet --help has more`);
  const begun = performance.now();
  const report: Report = (step, did, changed) => {
    const line = { step, did, changed, ms: Math.round(performance.now() - begun) };
    process.stdout.write(values.json === true ? `${JSON.stringify(line)}\n` : textOf(line));
  };
  await run({ values, report, participants: await participantsOf(values), file: await readToken(values.token) });
}

const textOf = ({ step, did, changed, ms }: Line): string =>
  `${(ms / 1_000).toFixed(1).padStart(6)} s  ${changed ? "+" : "="} ${step}: ${did}\n`;

interface Given {
  readonly values: Options;
  readonly report: Report;
  readonly participants: readonly [Participant, ...Participant[]];
  readonly file: TokenFile;
}

const commands: Readonly<Record<string, (given: Given) => Promise<void>>> = {
  async up({ values, report, participants, file }) {
    const usesOAuth2 = values["oauth2-url"] !== undefined;
    const secret = usesOAuth2 ? undefined : await secretOf(values);
    const { "service-token": tokenFile, "service-user": user, instruments, audience } = values;
    const { issuer, kind } = await up({
      participants,
      token: file,
      dars: values.dar ?? [],
      registryUrl: registryOf(values),
      waitMs: waitOf(values),
      synchronizers: countOf(values, "synchronizers"),
      service: {
        user: user ?? (usesOAuth2 ? undefined : "offledger"),
        signing: secret === undefined || tokenFile === undefined ? undefined : { secret, audience, file: tokenFile },
      },
      instrumentsFile: instruments,
      report,
    });
    const { url } = issuer.participant;
    const settings = `OFFLEDGER_LEDGER_URL=${url} OFFLEDGER_LEDGER_PARTIES=${issuer.party} OFFLEDGER_REGISTRY=${kind.registry}`;
    report("done", `serve it: ${settings}`, false);
  },

  async mint(given) {
    const to = required(given, "to");
    const { net, wallet, instrument, amount } = await opened(given);
    given.report(
      `${amount} ${instrument} for ${to}`,
      await mintFor(net, wallet, { receiver: to, instrument, amount }),
      true,
    );
  },

  async transfer(given) {
    const [from, to] = [required(given, "from"), required(given, "to")];
    const { net, wallet, instrument, amount } = await opened(given);
    const sender = await net.actor(from);
    const { party: receiver } = await net.findParty(to);
    const { offer } = await wallet.transfer(sender, { receiver, instrument, amount });
    const step = `${amount} ${instrument} to ${shortId(receiver)}`;
    given.report(step, offer === undefined ? "transferred" : `offered as ${offer}`, true);
    if (offer === undefined || given.values.accept !== true) return;
    await wallet.accept(await net.actor(receiver), offer);
    given.report(step, "accepted", true);
  },

  async burn(given) {
    const from = required(given, "from");
    const { net, wallet, instrument, amount } = await opened(given);
    const owner = await net.actor(from);
    await wallet.burn(owner, instrument, amount);
    given.report(`${amount} ${instrument} of ${shortId(owner.party)}`, "burned", true);
  },

  async holdings(given) {
    const party = required(given, "party");
    const { net, token } = await opened(given, false);
    const owner = await net.actor(party);
    const held = (await holdingsOf(owner)).filter(({ admin }) => admin === token.issuer.party);
    for (const instrument of new Set(held.map((one) => one.instrument))) {
      const ofInstrument = held.filter((one) => one.instrument === instrument);
      const sum = (isLocked: boolean) =>
        amountOf(
          ofInstrument.filter((one) => one.isLocked === isLocked).reduce((all, one) => all + unitsOf(one.amount), 0n),
        );
      given.report(instrument, `${sum(false)}, locked ${sum(true)}, in ${ofInstrument.length} holdings`, false);
    }
    if (held.length === 0) given.report(shortId(owner.party), "holds nothing of this token", false);
  },

  async offers(given) {
    const party = required(given, "party");
    const { net, token } = await opened(given, false);
    for (const offer of await waiting(net, token, party)) {
      const { contractId, amount, instrument, sender, executeBefore } = offer;
      given.report(contractId, `${plain(amount)} ${instrument} from ${shortId(sender)}, until ${executeBefore}`, false);
    }
  },

  async accept(given) {
    const party = required(given, "party");
    const { net, token, wallet } = await opened(given, false);
    const receiver = await net.actor(party);
    const { offer: only } = given.values;
    let offers: readonly Offer[] = [];
    // What another participant has just offered comes a moment later.
    for (const until = Date.now() + OFFER_MS; offers.length === 0 && Date.now() < until; await pause(POLL_MS))
      offers = (await waiting(net, token, receiver.party)).filter(
        ({ contractId }) => only === undefined || contractId === only,
      );
    if (offers.length === 0)
      throw new SetUpError(`no offer ${only === undefined ? "" : `${only} `}waits for ${receiver.party}`);
    for (const { contractId, amount, instrument, sender } of offers) {
      await wallet.accept(receiver, contractId);
      given.report(`${plain(amount)} ${instrument} from ${shortId(sender)}`, "accepted", true);
    }
  },

  async faucet(given) {
    const { values, report, file } = given;
    if (registryOf(values) === undefined) throw new SetUpError("--registry URL is missing: the running service");
    const max = checkAmount(values.max);
    const { net, wallet } = await opened(given, false);
    const { url } = await startFaucet({
      host: values.host,
      port: countOf(values, "port"),
      instruments: file.instruments.map(({ id }) => id),
      max,
      report,
      mint: (mint) => mintFor(net, wallet, mint),
    });
    report("faucet", `${url}, for development only`, false);
  },
};

/** Mints for a party, by its id or its hint, which accepts where one of the participants hosts it. Returns what became of it. */
async function mintFor(net: LocalNet, wallet: Wallet, { receiver, ...mint }: Mint): Promise<string> {
  const { party, actor } = await net.actorIfHosted(receiver);
  const offer = await wallet.mint({ receiver: party, ...mint });
  if (offer === undefined) return "minted";
  const why = await wallet.acceptFor(actor, offer);
  return why === undefined ? "minted and accepted" : `offered as ${offer}; ${why}`;
}

/** Without the zeros that the ledger adds. */
const plain = (amount: string): string => amountOf(unitsOf(amount));

/** The token that has been set up. The instrument and the amount are checked before, where they are needed. */
async function opened({ values, participants, file }: Given, needsAmount = true) {
  const { instrument = "", amount = "" } = values;
  const ids = file.instruments.map(({ id }) => id);
  if (needsAmount && !ids.includes(instrument))
    throw new SetUpError(`--instrument ${instrument} must be one of ${values.token}: ${ids.join(", ")}`);
  if (needsAmount) checkAmount(amount);
  const net = await LocalNet.connect(participants, {
    waitMs: waitOf(values),
    synchronizers: countOf(values, "synchronizers"),
  });
  const token = await findToken(net, await kindOf(file.token), file);
  return { net, token, wallet: new Wallet(token, registryOf(values)), instrument, amount };
}

async function waiting(net: LocalNet, token: Token, name: string) {
  const { participant, party } = await net.actor(name);
  return (await offersTo(party, participant, party)).filter(({ admin }) => admin === token.issuer.party);
}

function required({ values }: Given, name: "from" | "to" | "party"): string {
  const value = values[name];
  if (value === undefined) throw new SetUpError(`--${name} PARTY is missing`);
  return value;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const isExpected =
    error instanceof SetUpError || error instanceof LedgerError || (error instanceof TypeError && "code" in error);
  process.stderr.write(
    `${isExpected && error instanceof Error ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = error instanceof LedgerError ? 1 : 2;
});
