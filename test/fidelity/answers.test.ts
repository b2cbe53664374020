/** Our answers have what public recordings of the published backend's answers contain. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { burnMintFactory, onTransfer, transferFactory } from "../fixtures/calls/operations.js";
import { element, type Options, parties, payload, requirement, type Template } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { transferV1 } from "../fixtures/requests.js";
import { type RulesOptions, rulesOn } from "../fixtures/rules.js";
import { isBare, isDropped, readContext, WITH_ALL, WITH_BARE_NAMES } from "./contexts.js";
import { type RecordedAnswer, recordedAnswers } from "./recordings.js";

type Release = "0.10" | "0.12";

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
function registryOf(release: Release): JsonObject[] {
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

const transfer = transferFactory("v1", transferV1("alice", "bob"));

/** The request for each recorded answer. The kind of the transfer of 0.12 is not recorded: its entries are those of a direct one. */
const requests: readonly [operation: string, release: Release, call: Call][] = [
  ["transfer-instruction/v1/transfer-factory", "0.10", transfer],
  ["transfer-instruction/v1/{id}/choice-contexts/accept", "0.10", onTransfer("v1", "accept", "offer")],
  ["transfer-instruction/v1/transfer-factory", "0.12", transfer],
  ["registry/burn-mint-instruction/v0/burn-mint-factory", "0.12", burnMintFactory([parties.registrar])],
];

/** The answer of a registry of the release: its keys sorted, and `Module:Entity` of the disclosed contracts. */
async function answerOf(release: Release, call: Call, options: RulesOptions) {
  const { transferKind, values, disclosed } = readContext(await rulesOn(registryOf(release), options).body(call));
  const templates = disclosed.map(({ templateId }) => templateId.split(":").slice(1).join(":"));
  return { transferKind, values, keys: Object.keys(values).toSorted(), disclosed: templates };
}

function recordingOf(operation: string, release: Release): RecordedAnswer {
  const found = recordedAnswers().filter((each) => each.operation === operation && each.release === release);
  if (found[0] === undefined || found.length > 1) throw new Error(`${operation} of ${release} must be recorded once`);
  return found[0];
}

/** The contract of the dropped entry is not disclosed without it. */
const isNotReward = (template: string): boolean => !template.endsWith(":AppRewardConfiguration");

describe("recorded answers of the published backend", () => {
  test("are all compared", () => {
    const recorded = recordedAnswers().map(({ operation, release }) => [operation, release]);
    expect(recorded).toEqual(requests.map(([operation, release]) => [operation, release]));
  });

  test.each(requests)("%s of release %s: our answer has all but the dropped entries", async (...of) => {
    const [operation, release, call] = of;
    const { keys, values = {}, transferKind, disclosed = [], absent = [] } = recordingOf(operation, release);
    const ours = await answerOf(release, call, WITH_BARE_NAMES);
    const kept = keys.filter((key) => !isDropped(key));
    expect(kept).not.toEqual([]);
    expect(ours.keys).toEqual(expect.arrayContaining(kept));
    expect(ours.keys.filter((key) => absent.includes(key) || isDropped(key))).toEqual([]);
    expect(ours).toMatchObject({ values, ...(transferKind !== undefined && { transferKind }) });
    expect(ours.disclosed).toEqual(expect.arrayContaining(disclosed.filter(isNotReward)));
  });

  test.each(requests)("%s of release %s: by default our answer has prefixed names only", async (...of) => {
    const [operation, release, call] = of;
    const { keys } = await answerOf(release, call, {});
    const kept = recordingOf(operation, release).keys.filter((key) => !isDropped(key) && !isBare(key));
    expect(keys).toEqual(expect.arrayContaining(kept));
    expect(keys.filter(isBare)).toEqual([]);
  });

  test("the dropped entries are in the answer when rewards are turned on", async () => {
    const dropping = requests.filter(([operation, release]) => recordingOf(operation, release).keys.some(isDropped));
    expect(dropping).toHaveLength(1);
    for (const [operation, release, call] of dropping) {
      const { keys, disclosed = [] } = recordingOf(operation, release);
      const ours = await answerOf(release, call, WITH_ALL);
      expect(ours.keys).toEqual(expect.arrayContaining([...keys]));
      expect(ours.disclosed).toEqual(expect.arrayContaining([...disclosed]));
    }
  });
});
