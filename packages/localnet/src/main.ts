#!/usr/bin/env node
/** `offledger-localnet`: sets a token up on a LocalNet, and moves it about for scripts. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { LedgerError, Participant, signToken } from "./participant.js";
import { readToken, SetUpError } from "./token.js";
import { type Report, up } from "./up.js";

const USAGE = `Usage: offledger-localnet up --participant NAME=URL [--participant NAME=URL …] --dar FILE [--dar FILE …] [options]

Sets up a token: its packages, its issuer, its rules, initial balances, and the user as which offledger reads. Run again it
changes nothing. For development only.

  --participant NAME=URL  a participant's JSON Ledger API; the first hosts the issuer
  --dar FILE              a package to upload to all of them
  --token FILE            the token, default token.yaml
  --registry URL          the running service, which accepts initial balances
  --wait SECONDS          how long the participants may take to be there, default 300
  --user NAME             acts on the participants, default ledger-api-user
  --secret-file FILE      the secret of their tokens (HS256); without it no tokens are sent
  --audience TEXT         of their tokens, default https://canton.network.global
  --service-user NAME     as which offledger reads, default offledger
  --service-token FILE    where its token is written, with --secret-file
  --instruments FILE      where the names of the instruments are written for offledger
  --json                  prints a line of JSON per step
`;

interface Line {
  readonly step: string;
  readonly did: string;
  readonly changed: boolean;
  readonly ms: number;
}

async function main(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      participant: { type: "string", multiple: true, default: [] },
      dar: { type: "string", multiple: true, default: [] },
      token: { type: "string", default: "token.yaml" },
      registry: { type: "string" },
      wait: { type: "string", default: "300" },
      user: { type: "string", default: "ledger-api-user" },
      "secret-file": { type: "string" },
      audience: { type: "string", default: "https://canton.network.global" },
      "service-user": { type: "string", default: "offledger" },
      "service-token": { type: "string" },
      instruments: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const [command] = positionals;
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  if (command !== "up") throw new SetUpError(`say what to do: ${USAGE.split("\n")[0] ?? ""}`);
  const secret = values["secret-file"] === undefined ? undefined : await readSecret(values["secret-file"]);
  const access = {
    user: values.user,
    token: secret === undefined ? undefined : signToken(secret, values.user, values.audience),
  };
  const [first, ...others] = values.participant.map((text) => {
    const [, name = "", url = ""] = /^([\w-]+)=(https?:\/\/[^\s]+?)\/?$/.exec(text) ?? [];
    if (url === "") throw new SetUpError(`--participant ${text} must be NAME=URL, such as app=http://127.0.0.1:3975`);
    return new Participant(name, url, access);
  });
  if (first === undefined)
    throw new SetUpError("--participant NAME=URL is missing: the JSON Ledger API that hosts the issuer");
  const file = values["service-token"];
  const begun = performance.now();
  const report: Report = (step, did, changed) => {
    const line = { step, did, changed, ms: Math.round(performance.now() - begun) };
    process.stdout.write(values.json ? `${JSON.stringify(line)}\n` : textOf(line));
  };
  const { issuer, registry } = await up({
    participants: [first, ...others],
    token: await readToken(values.token),
    dars: values.dar,
    registryUrl: values.registry?.replace(/\/$/, ""),
    waitMs: Number(values.wait) * 1_000,
    service: {
      user: values["service-user"],
      signing: secret === undefined || file === undefined ? undefined : { secret, audience: values.audience, file },
    },
    instrumentsFile: values.instruments,
    report,
  });
  report(
    "done",
    `serve it: OFFLEDGER_LEDGER_URL=${first.url} OFFLEDGER_LEDGER_PARTIES=${issuer} OFFLEDGER_REGISTRY=${registry}`,
    false,
  );
}

const textOf = ({ step, did, changed, ms }: Line): string =>
  `${(ms / 1_000).toFixed(1).padStart(6)} s  ${changed ? "+" : "="} ${step}: ${did}\n`;

async function readSecret(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch {
    throw new SetUpError(`${path} cannot be read: it is the file of the secret with which tokens are signed`);
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
