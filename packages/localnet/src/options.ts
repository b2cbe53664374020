/** The options of `offledger-localnet`: what there is, and what they stand for. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Access, clientAccess, openAccess, secretAccess } from "./access.js";
import { SetUpError } from "./error.js";
import { Participant } from "./participant.js";

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

export const USAGE = `Usage: offledger-localnet COMMAND --participant NAME=URL [--participant NAME=URL …] [options]

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
export function readOptions(args: readonly string[]) {
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

export type Options = ReturnType<typeof readOptions>["values"];

export const registryOf = ({ registry }: Options): string | undefined => registry?.replace(/\/$/, "");
export const waitOf = (values: Options): number => countOf(values, "wait") * 1_000;

export function countOf(values: Options, name: "wait" | "port" | "synchronizers"): number {
  const text = values[name];
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new SetUpError(`--${name} ${text} must be a number of at most five digits`);
}

export async function participantsOf(values: Options): Promise<readonly [Participant, ...Participant[]]> {
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

export async function secretOf(values: Options): Promise<string | undefined> {
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
