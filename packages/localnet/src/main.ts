#!/usr/bin/env node
/** `offledger-localnet`: sets a token up on a LocalNet, and moves it about for scripts. */
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Access, clientAccess, openAccess, secretAccess } from "./access.js";
import { SetUpError } from "./error.js";
import { startFaucet } from "./faucet.js";
import { findToken, LocalNet, type Token } from "./localnet.js";
import { LedgerError, Participant } from "./participant.js";
import { checkAmount, kindOf, readToken, type TokenFile } from "./token.js";
import { type Report, shortId, up } from "./up.js";
import { amountOf, holdingsOf, type Offer, offersTo, unitsOf, Wallet } from "./wallet.js";

/** Each is also read from a variable: `--registry` from LOCALNET_REGISTRY. Several values are separated by commas there. */
const options = {
  participant: { type: "string", multiple: true },
  token: { type: "string" },
  registry: { type: "string" },
  user: { type: "string" },
  "secret-file": { type: "string" },
  audience: { type: "string" },
  "oauth2-url": { type: "string", multiple: true },
  "oauth2-client": { type: "string", multiple: true },
  "oauth2-secret-file": { type: "string", multiple: true },
  wait: { type: "string" },
  "allow-public": { type: "boolean" },
  json: { type: "boolean" },
  dar: { type: "string", multiple: true },
  synchronizers: { type: "string" },
  "service-user": { type: "string" },
  "service-token": { type: "string" },
  instruments: { type: "string" },
  from: { type: "string" },
  to: { type: "string" },
  party: { type: "string" },
  instrument: { type: "string" },
  amount: { type: "string" },
  offer: { type: "string" },
  accept: { type: "boolean" },
  host: { type: "string" },
  port: { type: "string" },
  max: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

const defaults = {
  token: "token.yaml",
  user: "ledger-api-user",
  audience: "https://canton.network.global",
  wait: "300",
  synchronizers: "1",
  host: "127.0.0.1",
  port: "5016",
  max: "1000",
};

const USAGE = `Usage: offledger-localnet COMMAND --participant NAME=URL [--participant NAME=URL …] [options]

A token and its registry on a LocalNet. For development only: it acts as the users of the participants.

  up         packages, issuer, the token's rules, the user of offledger, initial balances; run again it changes nothing
  mint       --to PARTY --instrument ID --amount N
  transfer   --from PARTY --to PARTY --instrument ID --amount N [--accept]: by an offer, which is accepted at once or later
  burn       --from PARTY --instrument ID --amount N
  holdings   --party PARTY
  offers     --party PARTY
  accept     --party PARTY [--offer ID]: all that wait, or one
  faucet     [--host ADDRESS] [--port N] [--max N]: mints for everybody, by POST /faucet and a page; port 5016

A party is an id, or its hint: alice. Each option is also read from a variable, --registry from LOCALNET_REGISTRY.

  --participant NAME=URL       a participant's JSON Ledger API; the first hosts the issuer
  --token FILE                 the token (token.yaml)
  --registry URL               the running service, for all that needs its answers
  --user NAME                  acts on the participants (ledger-api-user)
  --secret-file FILE           the secret of their tokens (HS256), or LOCALNET_SECRET; without it no tokens are sent
  --audience TEXT              of their tokens (https://canton.network.global)
  --oauth2-url NAME=URL        instead of a secret: the token URL of the participant NAME, its client id, and
  --oauth2-client NAME=ID      the secret of the client, in a file or in LOCALNET_OAUTH2_SECRET
  --oauth2-secret-file NAME=FILE
  --wait SECONDS               how long the participants may take to be there (300)
  --allow-public               a participant may be at a public address
  --json                       a line of JSON per step

Of up:
  --dar FILE                   a package to upload to all participants
  --synchronizers N            how many synchronizers each of them connects to (1)
  --service-user NAME          as which offledger reads (offledger; with OAuth2 the first client's user)
  --service-token FILE         where its token is written, with a shared secret
  --instruments FILE           where the names of the instruments are written for offledger
`;

/** What the command line says, else the variables. */
function readOptions(args: readonly string[]) {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const variables = Object.entries(options).flatMap(([name, option]): [string, string | boolean | string[]][] => {
    const text = process.env[`LOCALNET_${name.toUpperCase().replaceAll("-", "_")}`];
    if (text === undefined || text === "") return [];
    if (option.type === "boolean") return [[name, text === "true"]];
    return [[name, "multiple" in option ? text.split(",").map((item) => item.trim()) : text]];
  });
  return {
    command: positionals[0],
    values: { ...defaults, ...(Object.fromEntries(variables) as typeof values), ...values },
  };
}

/** How long an offer to accept is looked for. */
const OFFER_MS = 10_000;
const POLL_MS = 500;

type Options = ReturnType<typeof readOptions>["values"];

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
    const { net, wallet, instrument, amount } = await opened(given);
    const { participant, party } = await net.findParty(required(given, "to"));
    const offer = await wallet.mint({ receiver: party, instrument, amount });
    const step = `${amount} ${instrument} for ${shortId(party)}`;
    if (offer === undefined) given.report(step, "minted", true);
    else if (participant === undefined || registryOf(given.values) === undefined) {
      const why = participant === undefined ? "its participant is not among those given" : "no registry is given";
      given.report(step, `offered as ${offer}; ${why}, so it is not accepted`, true);
    } else {
      await wallet.accept(await net.actor(party), offer);
      given.report(step, "minted and accepted", true);
    }
  },

  async transfer(given) {
    const { net, wallet, instrument, amount } = await opened(given);
    const sender = await net.actor(required(given, "from"));
    const { party: receiver } = await net.findParty(required(given, "to"));
    const { offer } = await wallet.transfer(sender, { receiver, instrument, amount });
    const step = `${amount} ${instrument} to ${shortId(receiver)}`;
    given.report(step, offer === undefined ? "transferred" : `offered as ${offer}`, true);
    if (offer === undefined || given.values.accept !== true) return;
    await wallet.accept(await net.actor(receiver), offer);
    given.report(step, "accepted", true);
  },

  async burn(given) {
    const { net, wallet, instrument, amount } = await opened(given);
    const owner = await net.actor(required(given, "from"));
    await wallet.burn(owner, instrument, amount);
    given.report(`${amount} ${instrument} of ${shortId(owner.party)}`, "burned", true);
  },

  async holdings(given) {
    const { net, token } = await opened(given, false);
    const owner = await net.actor(required(given, "party"));
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
    const { net, token } = await opened(given, false);
    for (const offer of await waiting(net, token, required(given, "party"))) {
      const { contractId, amount, instrument, sender, executeBefore } = offer;
      given.report(contractId, `${plain(amount)} ${instrument} from ${shortId(sender)}, until ${executeBefore}`, false);
    }
  },

  async accept(given) {
    const { net, token, wallet } = await opened(given, false);
    const receiver = await net.actor(required(given, "party"));
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
    const { net, wallet } = await opened(given, false);
    if (registryOf(values) === undefined) throw new SetUpError("--registry URL is missing: the running service");
    const { url } = await startFaucet({
      host: values.host,
      port: countOf(values, "port"),
      instruments: file.instruments.map(({ id }) => id),
      max: checkAmount(values.max),
      report,
      async mint({ receiver, instrument, amount }) {
        const { participant, party } = await net.findParty(receiver);
        const offer = await wallet.mint({ receiver: party, instrument, amount });
        if (offer === undefined) return "minted";
        if (participant === undefined) return `offered as ${offer}: the party has to accept it`;
        await wallet.accept(await net.actor(party), offer);
        return "minted and accepted";
      },
    });
    report("faucet", `${url}, for development only`, false);
  },
};

/** Without the zeros that the ledger adds. */
const plain = (amount: string): string => amountOf(unitsOf(amount));

/** The token that has been set up. The instrument and the amount are checked where they are needed. */
async function opened({ values, participants, file }: Given, needsAmount = true) {
  const net = await LocalNet.connect(participants, {
    waitMs: waitOf(values),
    synchronizers: countOf(values, "synchronizers"),
  });
  const token = await findToken(net, await kindOf(file.token), file);
  const { instrument = "", amount = "" } = values;
  const ids = file.instruments.map(({ id }) => id);
  if (needsAmount && !ids.includes(instrument))
    throw new SetUpError(`--instrument ${instrument} must be one of ${values.token}: ${ids.join(", ")}`);
  if (needsAmount) checkAmount(amount);
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

const registryOf = ({ registry }: Options): string | undefined => registry?.replace(/\/$/, "");
const waitOf = (values: Options): number => countOf(values, "wait") * 1_000;

function countOf(values: Options, name: "wait" | "port" | "synchronizers"): number {
  const text = values[name];
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new SetUpError(`--${name} ${text} must be a number of at most five digits`);
}

async function participantsOf(values: Options): Promise<readonly [Participant, ...Participant[]]> {
  const [first, ...others] = await Promise.all((values.participant ?? []).map((text) => participantOf(values, text)));
  if (first === undefined)
    throw new SetUpError("--participant NAME=URL is missing: the JSON Ledger API that hosts the issuer");
  return [first, ...others];
}

async function participantOf(values: Options, text: string): Promise<Participant> {
  const [, named, url = ""] = /^(?:([\w-]+)=)?(https?:\/\/[^\s]+?)\/?$/.exec(text) ?? [];
  if (url === "") throw new SetUpError(`--participant ${text} must be NAME=URL, such as app=http://127.0.0.1:3975`);
  const name = named ?? new URL(url).host;
  return new Participant(name, url, await accessOf(values, name), values["allow-public"] === true);
}

async function accessOf(values: Options, name: string): Promise<Access> {
  const [tokenUrl, clientId] = [named(values["oauth2-url"], name), named(values["oauth2-client"], name)];
  if (tokenUrl !== undefined) {
    if (clientId === undefined) throw new SetUpError(`--oauth2-client ${name}=ID is missing`);
    const file = named(values["oauth2-secret-file"], name);
    const clientSecret =
      file === undefined
        ? named(process.env["LOCALNET_OAUTH2_SECRET"]?.split(","), name)
        : await readSecret(file, "the client's secret");
    if (clientSecret === undefined) throw new SetUpError(`--oauth2-secret-file ${name}=FILE is missing`);
    return clientAccess({ tokenUrl, clientId, clientSecret });
  }
  const secret = await secretOf(values);
  return secret === undefined ? openAccess(values.user) : secretAccess(secret, values.user, values.audience);
}

/** The value for a participant among texts such as `app=value`. */
const named = (texts: readonly string[] | undefined, name: string): string | undefined =>
  texts?.find((text) => text.startsWith(`${name}=`))?.slice(name.length + 1);

async function secretOf(values: Options): Promise<string | undefined> {
  const file = values["secret-file"];
  if (file === undefined) return process.env["LOCALNET_SECRET"];
  return readSecret(file, "the secret with which tokens are signed");
}

async function readSecret(path: string, what: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch {
    throw new SetUpError(`${path} cannot be read: it is the file of ${what}`);
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const isExpected =
    error instanceof SetUpError || error instanceof LedgerError || (error instanceof TypeError && "code" in error);
  process.stderr.write(
    `${isExpected && error instanceof Error ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = error instanceof LedgerError ? 1 : 2;
});
