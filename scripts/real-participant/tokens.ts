/** A mirror of a participant that authenticates: start, expiry and renewal of its token, from a file and from an issuer. */
import { once } from "node:events";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTransfer, type Report } from "./flows.js";
import { Instrument } from "./instrument.js";
import { type Ledger, type Onboarded, signToken } from "./ledger.js";
import { pause, RefusedError, Service } from "./service.js";

/** Seconds that a short token is valid. The participant needs some seconds to notice that it has expired. */
const SHORT = 15;
const LONG = 3_600;
const NOTICED_MS = 60_000;
const MIRROR = "offledger-mirror";
const PREPARER = "offledger-preparer";

interface Options {
  readonly ledger: Ledger;
  readonly onboarded: Onboarded;
  readonly secret: string | undefined;
  readonly chosen: readonly string[];
}

export async function tokens({ ledger, onboarded, secret, chosen }: Options, report: Report): Promise<void> {
  if (secret === undefined) throw new Error("the tokens need --secret, and a participant that authenticates");
  const [registrar = "", id = ""] = chosen[0]?.split("/") ?? [];
  const operator = onboarded.parties["operator"] ?? "";
  await createUser(ledger, MIRROR, [operator]);
  const settings = { OFFLEDGER_LEDGER_URL: ledger.url, OFFLEDGER_LEDGER_PARTIES: operator };
  const folder = await mkdtemp(join(tmpdir(), "offledger-tokens-"));
  const use = async (more: Readonly<Record<string, string>>, flow: (of: Instrument) => Promise<void>) => {
    const service = await Service.start({ ...settings, ...more });
    try {
      await flow(new Instrument(ledger, service, onboarded, registrar, id));
    } finally {
      await service.stop();
    }
  };
  const file = join(folder, "token");
  const renew = async (seconds: number): Promise<void> => {
    await writeFile(`${file}.new`, signToken(secret, MIRROR, seconds));
    await rename(`${file}.new`, file);
  };
  try {
    await renew(SHORT);
    await use({ OFFLEDGER_LEDGER_TOKEN_FILE: file }, (of) => fromFile(of, renew, report));
    await renew(SHORT);
    await use({ OFFLEDGER_LEDGER_TOKEN_FILE: file }, (of) =>
      report(`a file renewed every ${SHORT / 2} s, for ${SHORT * 4} s`, () => withRenewals(of, () => renew(SHORT))),
    );
    await withIssuer(secret, async (issuer, issued) => {
      const secretFile = join(folder, "secret");
      await writeFile(secretFile, "secret");
      const oidc = { OFFLEDGER_OIDC_ISSUER: issuer, OFFLEDGER_OIDC_CLIENT_ID: "mirror" };
      await use({ ...oidc, OFFLEDGER_OIDC_CLIENT_SECRET_FILE: secretFile }, (of) =>
        report(`an issuer of tokens for ${SHORT} s, for ${SHORT * 4} s`, async () => {
          const note = await withRenewals(of, async () => {});
          return `${note}, ${issued()} tokens`;
        }),
      );
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The settings of a mirror and of dry runs, with users that may only read, and tokens for an hour. */
export async function settingsWithTokens(
  ledger: Ledger,
  { parties }: Onboarded,
  secret: string,
  folder: string,
): Promise<Readonly<Record<string, string>>> {
  await createUser(ledger, MIRROR, [parties["operator"] ?? ""]);
  await createUser(ledger, PREPARER, Object.values(parties));
  const files = { OFFLEDGER_LEDGER_TOKEN_FILE: MIRROR, OFFLEDGER_PREPARE_TOKEN_FILE: PREPARER };
  const settings: Record<string, string> = { OFFLEDGER_PREPARE_USER_ID: PREPARER };
  for (const [name, user] of Object.entries(files)) {
    settings[name] = join(folder, user);
    await writeFile(join(folder, user), signToken(secret, user, LONG));
  }
  return settings;
}

async function createUser(ledger: Ledger, id: string, readAs: readonly string[]): Promise<void> {
  const user = {
    id,
    primaryParty: "",
    isDeactivated: false,
    identityProviderId: "",
    metadata: { resourceVersion: "", annotations: {} },
  };
  const rights = readAs.map((party) => ({ kind: { CanReadAs: { value: { party } } } }));
  await ledger.call("POST", "/v2/users", { user, rights }).catch((error: unknown) => {
    if (!String(error).includes("USER_ALREADY_EXISTS")) throw error;
  });
}

async function fromFile(of: Instrument, renew: (seconds: number) => Promise<void>, report: Report): Promise<void> {
  let offer = "";
  await report("a mirror starts with a token, and answers for a new offer", async () => {
    offer = await startTransfer(of, of.bob, "offer");
    await ask(of, offer);
  });
  await report("the token has expired: what is known is answered, a new offer is 503", async () => {
    await pause((SHORT + 1) * 1_000);
    await ask(of, offer);
    // On an open stream the participant looks at the expiry when something is to be delivered.
    const fresh = await unseenOffer(of);
    const since = Date.now();
    const status = await ask(of, fresh).then(
      () => "200",
      (error: unknown) => (error instanceof RefusedError ? String(error.status) : String(error)),
    );
    const answered = Date.now() - since;
    if (status !== "503") throw new Error(`a new offer is ${status}`);
    for (; incidents(of).length === 0; await pause(200))
      if (Date.now() - since > NOTICED_MS) throw new Error("no incident is logged");
    return `after ${answered} ms; incident after ${Date.now() - since} ms: ${incidents(of)[0]}`;
  });
  await report("the token is renewed: a new offer is answered", async () => {
    await renew(LONG);
    const since = Date.now();
    const fresh = await unseenOffer(of);
    for (; !(await isAnswered(of, fresh)); await pause(200))
      if (Date.now() - since > NOTICED_MS * 2) throw new Error("the mirror does not follow");
    return `after ${Date.now() - since} ms`;
  });
}

const incidents = ({ service }: Instrument): string[] => service.log.filter((line) => line.includes('"kind":"denied"'));

/** Offers and asks for several lifetimes of a token. Throws at the first that is not answered. */
async function withRenewals(of: Instrument, renew: () => Promise<void>): Promise<string> {
  const since = Date.now();
  let renewed = since;
  let asked = 0;
  for (; Date.now() - since < SHORT * 4_000; await pause(500)) {
    if (Date.now() - renewed > SHORT * 500) {
      await renew();
      renewed = Date.now();
    }
    await ask(of, await unseenOffer(of));
    if (!(await of.service.isReady())) throw new Error("the service is not ready");
    asked++;
  }
  return `${asked} new offers answered`;
}

const ask = (of: Instrument, offer: string) =>
  of.service.ask(of.standard(`transfer-instruction/v1/${offer}/choice-contexts/withdraw`));

const isAnswered = (of: Instrument, offer: string): Promise<boolean> =>
  ask(of, offer).then(
    () => true,
    (error: unknown) => {
      if (error instanceof RefusedError) return false;
      throw error;
    },
  );

/** An offer whose factory is asked for too: only factories do not depend on what is new. */
const unseenOffer = (of: Instrument): Promise<string> => startTransfer(of, of.bob, "offer");

/** An issuer of OAuth 2 client credentials on this machine. Counts its tokens. */
async function withIssuer(secret: string, use: (url: string, issued: () => number) => Promise<void>): Promise<void> {
  let issued = 0;
  const server = createServer((request, response) => {
    const url = `http://${request.headers.host}`;
    const isToken = request.method === "POST";
    if (isToken) issued++;
    const body = isToken
      ? { access_token: signToken(secret, MIRROR, SHORT), token_type: "Bearer", expires_in: SHORT }
      : { issuer: url, token_endpoint: `${url}/token` };
    request.resume();
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port is free");
  try {
    await use(`http://127.0.0.1:${address.port}`, () => issued);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
