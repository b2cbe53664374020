/** The templates of the Registry Utility: those of utility.yaml, and those of which more is read than fields. */
import { z } from "zod";
import type { HoldingFields } from "../../domain/ledger.js";
import { isObject, type JsonObject } from "../../util/json.js";
import { indexKey, type Template } from "../../domain/template.js";
import { check, parseOperatorFile } from "../../util/operator-file.js";
import { readPackageFile } from "../../util/package-files.js";
import { TableEntry } from "../engine/entries.js";
import { type Named, type TableTemplate, tableTemplates } from "../engine/templates.js";
import { partiesNamed } from "../engine/terms.js";
import { fullNames } from "../engine/file.js";
import { choicesOf } from "../engine/views.js";
import { utilityForm } from "../engine/grammar.js";
import { decimal, nonEmpty, readFields, time } from "../fields.js";
import type { Claim, InstrumentConfiguration } from "../sdk/registry.js";

export const utilityFile = readTable();

function readTable() {
  const { value, problems } = parseOperatorFile(readPackageFile("#utility.yaml"), (table) => check(utilityForm, table));
  if (problems !== undefined) throw new Error(problems.map((problem) => `utility.yaml:${problem}`).join("\n"));
  return value;
}

/** Those of utility.yaml, by their names. */
export const byName = tableTemplates({
  ...utilityFile,
  templates: fullNames(utilityFile.templates, utilityFile),
  entries: definitions(),
});

/** The entries that are found by fields of their contracts. */
function definitions() {
  const found = Object.entries(utilityFile.entries ?? {}).flatMap(([name, { template, ...more }]) =>
    template === undefined ? [] : [[name, { ...more, template }] as const],
  );
  return Object.fromEntries(found);
}

function templateNamed(name: string): TableTemplate {
  const found = byName.get(name);
  if (found === undefined) throw new Error(`utility.yaml has no template ${name}`);
  return found;
}

export const allocationFactory = templateNamed("factory");
export const registrarService = templateNamed("service");
export const transferRule = templateNamed("rule");
export const appRewardConfiguration = templateNamed("app-reward");
export const featuredAppRight = templateNamed("featured-app-right");
export const transferPreapproval = templateNamed("preapproval");
export const transferOffer = templateNamed("transfer-offer");
export const dvpLegAllocation = templateNamed("allocation");
export const mintOffer = templateNamed("mint-offer");
export const mintRequest = templateNamed("mint-request");
export const burnOffer = templateNamed("burn-offer");
export const burnRequest = templateNamed("burn-request");

/** The templates of the instructions that the operations `kind/…` are about. */
export const instructionsOf = (kind: string): readonly TableTemplate[] =>
  Object.entries(utilityFile.templates).flatMap(([name, one]) => (choicesOf(one) === kind ? templateNamed(name) : []));

/** An entry that is found by fields of its contracts. */
export function entryNamed(name: string): TableEntry {
  const definition = definitions()[name];
  if (definition === undefined) throw new Error(`utility.yaml has no entry ${name}`);
  return new TableEntry(name, definition, {
    templates: byName,
    entries: new Map(),
    elsewhere: "omit",
    partiesOf: partiesNamed,
  });
}

/** The index keys of the templates below. */
export const indexKeys = {
  /** By registrar and the id of the default identifier, which choices compare. */
  instrument: (registrar: string, id: string) => indexKey("instrument", registrar, id),
  /** By registrar and the id of an additional identifier, which only look-ups of configurations use. */
  additionalIdentifier: (registrar: string, id: string) => indexKey("additional-identifier", registrar, id),
  instruments: (registrar: string) => indexKey("instruments", registrar),
  /** By issuer and a party: the holder, or the subject of a claim that counts. */
  credential: (issuer: string, party: string) => indexKey("credential", issuer, party),
  supply: (registrar: string, instrument: string) => indexKey("supply", registrar, instrument),
};

/** Without `registrarOf`, answers of every registrar may use the contracts. */
function defineTemplate<F>(
  packageName: string,
  qualifiedName: string,
  payloadForm: z.ZodType<F>,
  indexKeysOf: (fields: F) => readonly string[],
  registrarOf?: (fields: F) => string,
): Template<F> {
  return {
    packageName,
    qualifiedName,
    parse(payload: JsonObject) {
      const fields = readFields(payloadForm, payload, "");
      return { fields, indexKeys: indexKeysOf(fields) };
    },
    ...(registrarOf !== undefined && { registrarOf }),
  };
}

/** A configuration, with the parties of its group as other templates have them. */
export interface ConfigurationFields extends InstrumentConfiguration {
  readonly roles: Named<string>;
}

const identifier = z.object({ source: z.string(), id: z.string(), scheme: z.string() });
/** A required claim is a Daml pair: `{_1: property, _2: value}`. */
const claimPair = z
  .object({ _1: z.string(), _2: z.string() })
  .transform(({ _1: property, _2: value }) => ({ property, value }));
const requirement = z.object({ issuer: nonEmpty, requiredClaims: z.array(claimPair) });

export const instrumentConfiguration = defineTemplate(
  "utility-registry-v0",
  "Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration",
  z
    .object({
      operator: nonEmpty,
      provider: nonEmpty,
      registrar: nonEmpty,
      defaultIdentifier: identifier,
      additionalIdentifiers: z.array(identifier),
      issuerRequirements: z.array(requirement),
      holderRequirements: z.array(requirement),
      isPaused: z.json().optional(),
      checkBlocklist: z.boolean().nullish(),
    })
    .transform(({ isPaused, checkBlocklist, ...fields }): ConfigurationFields => ({
      ...fields,
      roles: { operator: [fields.operator], provider: [fields.provider] },
      // An optional constructor without fields: ledgers encode it as its name, as an object or as true.
      paused: isPaused === "Paused" || isPaused === true || isObject(isPaused),
      checkBlocklist: checkBlocklist ?? false,
    })),
  ({ registrar, defaultIdentifier, additionalIdentifiers }) => [
    indexKeys.instruments(registrar),
    indexKeys.instrument(registrar, defaultIdentifier.id),
    ...new Set(additionalIdentifiers.map(({ id }) => indexKeys.additionalIdentifier(registrar, id))),
  ],
  ({ registrar }) => registrar,
);

export interface Credential {
  readonly issuer: string;
  readonly holder: string;
  /** Microseconds since 1970; undefined if it has always been valid. */
  readonly validFrom: number | undefined;
  /** Microseconds since 1970; undefined if it never expires. */
  readonly validUntil: number | undefined;
  /**
   * The claims that count, by ascending subject, each subject once: those on the holder, and on everyone if the issuer
   * holds the credential itself. An allow-list may have 10,000 subjects.
   */
  readonly subjects: readonly SubjectClaims[];
}

export interface SubjectClaims {
  readonly subject: string;
  readonly claims: readonly Claim[];
}

const NO_CLAIMS: readonly Claim[] = [];

/** The claims of a credential on a party, found without reading those on others. */
export function claimsOn({ subjects }: Credential, party: string): readonly Claim[] {
  let low = 0;
  let high = subjects.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = subjects[middle];
    if (found === undefined) break;
    if (found.subject === party) return found.claims;
    if (found.subject < party) low = middle + 1;
    else high = middle - 1;
  }
  return NO_CLAIMS;
}

export const credential = defineTemplate(
  "utility-credential-v0",
  "Utility.Credential.V0.Credential:Credential",
  z
    .object({
      issuer: nonEmpty,
      holder: nonEmpty,
      validFrom: time.nullish(),
      validUntil: time.nullish(),
      claims: z.array(z.object({ subject: z.string(), property: z.string(), value: z.string() })),
    })
    .transform(({ issuer, holder, validFrom, validUntil, claims }): Credential => ({
      issuer,
      holder,
      validFrom: validFrom ?? undefined,
      validUntil: validUntil ?? undefined,
      subjects: groupClaims(claims, issuer, holder),
    })),
  // By its holder too: a requirement without claims asks for any credential that is held.
  ({ issuer, holder, subjects }) =>
    [...new Set([holder, ...subjects.map(({ subject }) => subject)])].map((party) =>
      indexKeys.credential(issuer, party),
    ),
);

function groupClaims(
  claims: readonly (Claim & Pick<SubjectClaims, "subject">)[],
  issuer: string,
  holder: string,
): SubjectClaims[] {
  const bySubject = new Map<string, Claim[]>();
  for (const { subject, property, value } of claims) {
    const claim = { property, value };
    if (subject !== holder && holder !== issuer) continue;
    const known = bySubject.get(subject);
    if (known === undefined) bySubject.set(subject, [claim]);
    else known.push(claim);
  }
  const subjects = [...bySubject].map(([subject, ofSubject]) => ({ subject, claims: ofSubject }));
  return subjects.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
}

const holdingForm = z.object({
  owner: nonEmpty,
  operator: nonEmpty,
  provider: nonEmpty,
  registrar: nonEmpty,
  instrument: z.object({ id: nonEmpty }),
  lock: z.unknown().optional(),
});
const supplyForm = z.object({ registrar: nonEmpty, instrument: z.object({ id: nonEmpty }), amount: decimal });

/**
 * Only locked holdings are disclosed, so unlocked ones are optional: their owners matter to some requests, but there can
 * be millions. A lock never changes during the life of a holding. It has no `registrarOf`: answers of any registrar disclose the holding
 * that their instruction names.
 */
export const holding: Template<HoldingFields> = {
  packageName: "utility-registry-holding-v0",
  qualifiedName: "Utility.Registry.Holding.V0.Holding:Holding",
  parse(payload) {
    const { owner, operator, provider, registrar, instrument, lock } = readFields(holdingForm, payload, "");
    const fields = { owner, operator, provider, registrar, instrumentId: instrument.id };
    return { fields, indexKeys: [], isOptional: (lock ?? undefined) === undefined };
  },
  supplyContribution(payload) {
    const { registrar, instrument, amount } = readFields(supplyForm, payload, "");
    return { sum: indexKeys.supply(registrar, instrument.id), amount };
  },
};

export const templates: readonly Template[] = [...byName.values(), instrumentConfiguration, credential, holding];

/** Published packages of the Registry Utility, of which a participant may not say the version. */
export const PUBLISHED: Readonly<Record<string, string>> = {
  // utility-registry-app-v0
  "98cdf68988bc8987227e90905458779957b3687d6a067b2314e7a4c9fe9f33fa": "0.1.0",
  "7a75ef6e69f69395a4e60919e228528bb8f3881150ccfde3f31bcc73864b18ab": "0.7.0",
  // utility-registry-v0
  "3b25e7327b493bbe063e89d34fdacbfcc491007e5eabefea3a2919044a28f452": "0.1.0",
  a236e8e22a3b5f199e37d5554e82bafd2df688f901de02b00be3964bdfa8c1ab: "0.6.0",
  // utility-registry-holding-v0
  a83fb2d68f6f220f10da4e92146ff919ca9228fd467441e4c870b904ae9d516f: "0.0.1",
  "3d443920585d7e53514839bc2ef4feff5df87adbd047a64b8e266e4b72c85418": "0.0.2",
  "8107899ac4723ce986bf7d27416534e576e54b92161e46150a595fb78ff3d3a1": "0.2.1",
  // utility-credential-v0
  aa472491115b521b2855f869999b432c57f39fcb41ef68c659d12431f9d8ddd6: "0.0.2",
  "77df4e7b980c12de438d7b052141a762215fae790d81f71179c8fb534beb68f7": "0.0.3",
  "5a29ead611a0abd5f5b3fc3caf7d0f67c0ff802032ab6d392824aa9060e56d70": "0.1.0",
  // splice-amulet
  c208d7ead1e4e9b610fc2054d0bf00716144ad444011bce0b02dcd6cd0cb8a23: "0.1.16",
  "6c5802f86709a0ad4784af81f0bab40f3070b2f58128d8843da1e1784c147802": "0.1.17",
};
