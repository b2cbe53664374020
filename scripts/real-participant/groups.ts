/** What the onboarding does not set up: one instrument under two providers, and one without rule and configuration. */
import type { JsonObject } from "../../src/util/json.js";
import { flows, type Report } from "./flows.js";
import { Instrument } from "./instrument.js";
import { type Ledger, type Onboarded, templates } from "./ledger.js";
import type { Service } from "./service.js";

const ID = "SHARED";
const NEWEST = "provider2";

export async function groups(ledger: Ledger, service: Service, onboarded: Onboarded, report: Report): Promise<void> {
  const shared = await ledger.party("registrar-shared");
  const bare = await ledger.party("registrar-bare");
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
