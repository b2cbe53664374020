import type { JsonReader } from "../../sdk/json-reader.js";
import type { InstrumentConfiguration, InstrumentIdentifier, Requirement } from "../../sdk/registry.js";
import { indexKeys } from "./index-keys.js";
import { defineTemplate } from "./define-template.js";
import { groupParties } from "./services.js";

export const instrumentConfiguration = defineTemplate(
  "utility-registry-v0",
  "Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration",
  (payload): InstrumentConfiguration => ({
    ...groupParties(payload),
    defaultIdentifier: identifier(payload.object("defaultIdentifier")),
    additionalIdentifiers: payload.objects("additionalIdentifiers").map(identifier),
    issuerRequirements: payload.objects("issuerRequirements").map(requirement),
    holderRequirements: payload.objects("holderRequirements").map(requirement),
    paused: isPaused(payload),
    checkBlocklist: payload.optionalBool("checkBlocklist") ?? false,
  }),
  ({ registrar, defaultIdentifier, additionalIdentifiers }) => [
    indexKeys.instruments(registrar),
    indexKeys.instrument(registrar, defaultIdentifier.id),
    ...new Set(additionalIdentifiers.map(({ id }) => indexKeys.additionalIdentifier(registrar, id))),
  ],
  ({ registrar }) => registrar,
);

function identifier(fields: JsonReader): InstrumentIdentifier {
  return { source: fields.text("source"), id: fields.text("id"), scheme: fields.text("scheme") };
}

/** `isPaused` is an optional constructor without fields: ledgers encode it as its name, as an object or as true. */
function isPaused(payload: JsonReader): boolean {
  const value = payload.raw("isPaused");
  return value === "Paused" || value === true || (typeof value === "object" && !Array.isArray(value));
}

/** A required claim is a Daml pair: `{_1: property, _2: value}`. */
function requirement(fields: JsonReader): Requirement {
  return {
    issuer: fields.id("issuer"),
    requiredClaims: fields
      .objects("requiredClaims")
      .map((pair) => ({ property: pair.text("_1"), value: pair.text("_2") })),
  };
}
