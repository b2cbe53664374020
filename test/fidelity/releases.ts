/** Registries as releases of the Registry App create them: package ids, and the optional fields of each release. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../src/domain/json.js";
import { element, type Options, parties, payload, requirement, type Template } from "../fixtures/elements.js";

export type Release = "0.10" | "0.12";

/** Versions of the packages in each release. The reward and the amulet packages do not matter here. */
const versions: Readonly<Record<Release, Readonly<Record<string, string>>>> = {
  "0.10": { app: "0.5.0", registry: "0.5.0", holding: "0.2.0", credential: "0.1.0", amulet: "0.1.14" },
  "0.12": { app: "0.7.0", registry: "0.6.0", holding: "0.2.1", credential: "0.1.0", amulet: "0.1.14" },
};

const packageOf: Readonly<Partial<Record<Template, string>>> = {
  AllocationFactory: "app",
  RegistrarService: "app",
  TransferOffer: "app",
  TransferPreapproval: "app",
  InstrumentConfiguration: "registry",
  TransferRule: "registry",
  AppRewardConfiguration: "registry",
  Holding: "holding",
  Credential: "credential",
  FeaturedAppRight: "amulet",
};

/** The recorded release 0.10 has no entry `enable-result-contracts`: its RegistrarService does not set the field. */
const registrarService: Readonly<Record<Release, JsonObject>> = {
  "0.10": payload.service(),
  "0.12": payload.service({ enableResultContracts: true }),
};

/** Neither release knows `checkBlocklist` (registry 0.7) or `isPaused` (registry 0.9). */
const configuration = payload.configuration("USD", {
  holderRequirements: [requirement(["isHolderOf=USD"])],
  issuerRequirements: [requirement(["isIssuerOf=USD"])],
});

/** Everything that operations may need: a context lacks an entry only because the registry leaves it out. */
export function registryOf(release: Release): JsonObject[] {
  const create = (template: Template, contractId: string, argument: JsonObject): JsonObject =>
    element(template, contractId, argument, packageOptions(release, template));
  return [
    create("AllocationFactory", "factory", payload.service()),
    create("RegistrarService", "service", registrarService[release]),
    create("InstrumentConfiguration", "configuration", configuration),
    create("TransferRule", "rule", payload.service()),
    create("AppRewardConfiguration", "reward", payload.reward()),
    create("FeaturedAppRight", "right", payload.right()),
    create("Credential", "alice-holds", payload.credential("alice", ["isHolderOf=USD"])),
    create("Credential", "bob-holds", payload.credential("bob", ["isHolderOf=USD"])),
    create("Credential", "issues", payload.credential(parties.registrar, ["isIssuerOf=USD"])),
    create("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
    // The recorded transfer of 0.12 has the entry of a direct one, that of 0.10 is an offer.
    ...(release === "0.12" ? [create("TransferPreapproval", "preapproval", payload.preapproval("bob", []))] : []),
    create("Holding", "locked", payload.lockedHolding("alice", "USD")),
  ];
}

/** A package id is a hash of the package: it differs from release to release. */
function packageOptions(release: Release, template: Template): Options {
  const name = packageOf[template];
  if (name === undefined) throw new Error(`the package of ${template} is not listed`);
  const packageId = createHash("sha256")
    .update(`${name} ${versions[release][name] ?? ""}`)
    .digest("hex");
  return { packageId };
}
