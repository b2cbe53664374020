/** What the onboarding does not set up: one instrument under two providers, and one without rule and configuration. */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../src/util/json.js";
import { flows, type Report } from "./flows.js";
import { Instrument } from "./instrument.js";
import { type Ledger, type Onboarded, templates } from "./ledger.js";
import type { Service } from "./service.js";

const ID = "SHARED";
const NEWEST = "provider2";
const run = randomBytes(3).toString("hex");

export async function groups(ledger: Ledger, service: Service, onboarded: Onboarded, report: Report): Promise<void> {
  const shared = await createParty(ledger, `registrar-shared-${run}`);
  const bare = await createParty(ledger, `registrar-bare-${run}`);
  const instrument = (registrar: string, provider: string): Instrument =>
    new Instrument(
      ledger,
      service,
      {
        parties: { ...onboarded.parties, [registrar]: registrar },
        registrars: { [registrar]: { provider, configs: { [ID]: "" } } },
      },
      registrar,
      ID,
    );
  for (const provider of ["provider", NEWEST]) await createGroup(instrument(shared, provider), true);
  await createGroup(instrument(bare, "provider"), false);
  // Holdings of both providers: the answers differ. Only an offer to burn names no holdings, and is of the newest group.
  for (const provider of ["provider", NEWEST])
    for (const { name, run: flow } of flows)
      if (provider === NEWEST || name !== "burn offer accept")
        await report(`one instrument of two providers, ${provider}: ${name}`, () => flow(instrument(shared, provider)));
  for (const { name, run: flow } of flows.filter((each) => each.name === "transfer self"))
    await report(`no rule and no configuration: ${name}`, () => flow(instrument(bare, "provider")));
}

async function createParty(ledger: Ledger, partyIdHint: string): Promise<string> {
  const { partyDetails } = await ledger.call("POST", "/v2/parties", { partyIdHint, identityProviderId: "" });
  const { party } = partyDetails as { readonly party: string };
  if (ledger.token() !== undefined) {
    const rights = [{ kind: { CanActAs: { value: { party } } } }];
    const userId = "participant_admin";
    await ledger.call("POST", `/v2/users/${userId}/rights`, { userId, identityProviderId: "", rights });
  }
  return party;
}

/** The factory of the instrument's group, and what a configured instrument has besides. */
async function createGroup(of: Instrument, isConfigured: boolean): Promise<void> {
  const { ledger, operator, provider, registrar, id } = of;
  const group = { operator, provider, registrar };
  const create = (templateId: string, argument: JsonObject) =>
    ledger.submit([provider, registrar], { templateId, argument });
  await create(templates.factory, group);
  if (!isConfigured) return;
  await create(templates.rule, group);
  await create(templates.service, { ...group, enableResultContracts: null });
  await create(templates.configuration, {
    ...group,
    defaultIdentifier: { source: registrar, id, scheme: "RegistrarInternalScheme" },
    additionalIdentifiers: [],
    issuerRequirements: [],
    holderRequirements: [],
    providerAppRewardBeneficiaries: null,
  });
}
