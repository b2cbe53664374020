/**
 * Tokens by their interfaces: the recorded flows of Splice's test tokens, served from memory and by way of PostgreSQL. Their
 * packages arrive while the services run. Contracts that another issuer shows to the registrar stay unknown.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../src/util/json.js";
import { PostgresServer } from "../../test/fixtures/postgres-server.js";
import type { Report } from "./flows.js";
import { createdOf, type Ledger } from "./ledger.js";
import { type Recording, testTokenV1, testTokenV2 } from "./recorded-flows.js";
import { answerWithin, FOLLOWED_MS, nameOf, Renames, Replay } from "./replay.js";
import { RefusedError, Service } from "./service.js";

/** A contract of the token that another issuer makes, and shows to the registrar in the place of the party `as`. */
interface Foreign {
  readonly entity: string;
  readonly as: string;
  readonly path: string;
  /** Names the registrar, which has not signed it. */
  readonly forge?: (argument: JsonObject, registrar: string) => JsonObject;
}

interface Token {
  readonly name: string;
  readonly dar: string;
  readonly registry: string;
  readonly recording: () => Recording;
  readonly foreign: readonly Foreign[];
}

const TOKENS: readonly Token[] = [
  {
    name: "TestTokenV1",
    dar: "splice-test-token-v1-1.0.0.dar",
    registry: "standard",
    recording: testTokenV1,
    foreign: [
      { entity: "TokenTransferOffer", as: "tok-carol", path: "transfer-instruction/v1/ID/choice-contexts/accept" },
      { entity: "TokenAllocation", as: "tok-exec", path: "allocations/v1/ID/choice-contexts/cancel" },
    ],
  },
  {
    name: "TestTokenV2",
    dar: "splice-test-token-v2-1.0.0.dar",
    registry: "registries/test-token-v2.yaml",
    recording: testTokenV2,
    foreign: [
      { entity: "TokenTransferOffer", as: "bob", path: "transfer-instruction/v2/ID/choice-contexts/accept" },
      { entity: "TokenAllocationV2", as: "exec", path: "allocations/v2/ID/choice-contexts/cancel" },
      {
        entity: "TokenAllocationInstructionV2",
        as: "bank",
        path: "allocation-instruction/v2/ID/choice-contexts/accept",
        forge: ({ allocation, ...others }, admin) => ({
          ...others,
          allocation: { ...(allocation as JsonObject), admin },
        }),
      },
    ],
  },
];

export async function standard(ledger: Ledger, dars: string | undefined, report: Report): Promise<void> {
  if (dars === undefined)
    throw new Error("the part standard needs --dars, a folder with the packages of the test tokens");
  for (const token of TOKENS) await serve(token, ledger, await readFile(join(dars, token.dar)), report);
}

async function serve(token: Token, ledger: Ledger, dar: Uint8Array, report: Report): Promise<void> {
  const { name, registry } = token;
  const recording = token.recording();
  const parties: string[] = [];
  for (const party of recording.parties) parties.push(await ledger.party(party.replace(/::.*/, "")));
  const [registrar = ""] = parties;
  const settings = {
    OFFLEDGER_LEDGER_URL: ledger.url,
    OFFLEDGER_LEDGER_PARTIES: registrar,
    OFFLEDGER_REGISTRY: registry,
  };
  const postgres = await PostgresServer.create();
  const services: Service[] = [];
  try {
    services.push(await Service.start(settings, false));
    services.push(await Service.start({ ...settings, OFFLEDGER_DATABASE_URL: postgres.url }, false));
    const isNew = await ledger.upload(dar);
    const uploaded = Date.now();
    const replay = new Replay(ledger, services, recording, parties);
    const [setup = [], ...flows] = recording.flows;
    await replay.run(setup);
    const paths: string[] = [];
    for (const foreign of token.foreign)
      await report(`${name}, another issuer makes a ${foreign.entity}`, async () => {
        paths.push(...(await showForeign(foreign, recording, registrar, ledger)));
      });
    for (const [index, steps] of flows.entries()) {
      await report(`${name} ${index + 1}: ${steps.flatMap(nameOf).join(", ")}`, () => replay.run(steps));
      if (index > 0) continue;
      const seconds = replay.servedAt.map((at) => (at - uploaded) / 1_000);
      const what = isNew ? "the package was uploaded" : "a package that was there was uploaded again";
      await report(name, async () => `served from memory and PostgreSQL ${seconds.join(" and ")} s after ${what}`);
    }
    await report(name, async () => replay.summary);
    for (const path of paths)
      await report(`${name}, another issuer: unknown is ${path}`, () => areUnknown(services, path));
  } finally {
    for (const service of services) await service.stop();
    await postgres.remove();
  }
}

/** Returns the paths of requests for it, at the registrar and at its issuer. */
async function showForeign(
  { entity, as, path, forge = (argument) => argument }: Foreign,
  recording: Recording,
  registrar: string,
  ledger: Ledger,
): Promise<string[]> {
  const example = recording.examples.get(entity);
  if (example === undefined) throw new Error(`the recording has no ${entity}`);
  const issuer = await ledger.party("issuer");
  const renames = new Renames(recording, (party) => (party.startsWith(`${as}::`) ? registrar : issuer));
  const { templateId, argument } = renames.in(example);
  const created = await ledger.submit([issuer], { templateId, argument: forge(argument, registrar) });
  const below = `registry/${path.replace("ID", createdOf(created, entity))}`;
  return [registrar, issuer].map((party) => `/api/token-standard/v0/registrars/${party}/${below}`);
}

async function areUnknown(services: readonly Service[], path: string): Promise<void> {
  for (const service of services) {
    const answer = await answerWithin(FOLLOWED_MS, service, { path, body: {} }, false);
    if (!(answer instanceof RefusedError)) throw new Error(`served: ${JSON.stringify(answer)}`);
    // One that is known may be refused for another reason.
    if (!answer.message.includes("is not known here")) throw answer;
  }
}
