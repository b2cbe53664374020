/** The registry of the instrument LOAD: the contracts that stood before each recorded update, reconstructed. */
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { blobOf } from "../fixtures/elements.js";
import { type CreatedEvent, type ExercisedEvent, type RecordedUpdate, transactionOf } from "./recordings.js";

/** The entries of the context that the caller of a choice got from the registry's backend. */
export function contextOf({ choiceArgument }: ExercisedEvent): JsonObject {
  const { extraArgs } = choiceArgument as { readonly extraArgs: { readonly context: { readonly values: JsonObject } } };
  return extraArgs.context.values;
}

/** The exercises of an update, in order, without those that only archive. */
export function exercisesOf(update: RecordedUpdate): ExercisedEvent[] {
  const exercised = transactionOf(update).events.flatMap(({ ExercisedEvent }) => ExercisedEvent ?? []);
  return exercised.filter(({ choice }) => choice !== "Archive");
}

export function creationsOf(update: RecordedUpdate): CreatedEvent[] {
  return transactionOf(update).events.flatMap(({ CreatedEvent }) => CreatedEvent ?? []);
}

/** The contracts active before the update at `index`, as elements: those of `initial` and those created since. */
export function activeBefore(
  updates: readonly RecordedUpdate[],
  index: number,
  initial: readonly JsonObject[],
): JsonObject[] {
  const active = new Map(initial.map((element) => [contractIdOf(element), element]));
  for (const update of updates.slice(0, index)) {
    for (const { ExercisedEvent } of transactionOf(update).events)
      if (ExercisedEvent?.consuming === true) active.delete(ExercisedEvent.contractId);
    for (const created of creationsOf(update)) active.set(created.contractId, recordedElement(created, update));
  }
  return [...active.values()];
}

/** A recorded contract as an element. The recording was made without blobs, so the element has a made-up one. */
function recordedElement(created: CreatedEvent, update: RecordedUpdate): JsonObject {
  const createdEvent = { ...created, createdEventBlob: blobOf(created.contractId) };
  return activeElement(createdEvent, transactionOf(update).synchronizerId);
}

/** A contract that the recording refers to but does not show, as an element. */
function builtElement(
  { contractId, templateId, packageName }: Pick<CreatedEvent, "contractId" | "templateId" | "packageName">,
  createArgument: JsonObject,
  createdAt: string,
  synchronizerId: string,
): JsonObject {
  const createdEvent = {
    offset: 1,
    nodeId: 0,
    contractId,
    templateId,
    contractKey: null,
    createArgument,
    createdEventBlob: blobOf(contractId),
    interfaceViews: [],
    witnessParties: [],
    signatories: [],
    observers: [],
    createdAt,
    packageName,
  };
  return activeElement(createdEvent, synchronizerId);
}

const activeElement = (createdEvent: JsonObject, synchronizerId: string): JsonObject => ({
  workflowId: "",
  contractEntry: { JsActiveContract: { createdEvent, synchronizerId, reassignmentCounter: 0 } },
});

function contractIdOf(element: JsonObject): string {
  const { contractEntry } = element as {
    readonly contractEntry: { readonly JsActiveContract: { readonly createdEvent: { readonly contractId: string } } };
  };
  return contractEntry.JsActiveContract.createdEvent.contractId;
}

/** The contract ids in a context value: of AV_ContractId, and of AV_List of these. */
export function contractIdsIn(value: JsonValue | undefined): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const { tag, value: inner = null } = value;
  if (tag === "AV_ContractId" && typeof inner === "string") return [inner];
  return tag === "AV_List" && Array.isArray(inner) ? inner.flatMap((each) => contractIdsIn(each)) : [];
}

/** The exercise of that choice in the update at `index`. */
export function exerciseIn(updates: readonly RecordedUpdate[], index: number, choice: string): ExercisedEvent {
  const update = updates[index];
  const found = update && exercisesOf(update).find((each) => each.choice === choice);
  if (found === undefined) throw new Error(`update ${index} must have the choice ${choice}`);
  return found;
}

/**
 * The contracts that the recording refers to but does not show, as elements. Their contract ids are the recorded ones;
 * the entry or the choice that names an id tells the template. The fields are those of the specification:
 *
 * - MintRequest, AllocationFactory, TransferRule: the recording shows the template id. Operator, provider, registrar
 *   and the terms of the mint are those of the contracts that these choices created.
 * - InstrumentConfiguration: identifier LOAD. Holders need isHolderOf and issuers isIssuerOf, from the registrar: the
 *   recording shows that the instrument had requirements, but not which.
 * - AppRewardConfiguration: of the provider. The dso and the weight are made up.
 * - Credential: one for each recorded list. Its holder is the party for which the operation lists it.
 *
 * Left out are unlocked holdings, which no context refers to.
 */
export function unseenContracts(updates: readonly RecordedUpdate[]): JsonObject[] {
  const mint = exerciseIn(updates, 0, "MintRequest_Accept");
  const transfer = exerciseIn(updates, 1, "TransferFactory_Transfer");
  const accept = exerciseIn(updates, 2, "TransferInstruction_Accept");
  const rule = exerciseIn(updates, 2, "TransferRule_Transfer");
  const { operator, provider, terms, synchronizerId } = mintIn(updates);
  const { instrumentId, holder: sender } = terms;
  const { admin: registrar, id } = instrumentId;
  const { receiver } = (transfer.choiceArgument as { readonly transfer: { readonly receiver: string } }).transfer;
  const served = { operator, provider, registrar };

  const elementOf = (of: Identity, argument: JsonObject): JsonObject =>
    builtElement(of, argument, "2025-10-14T09:00:00Z", synchronizerId);
  const credential = (contractId: string, holder: string, property: string): JsonObject =>
    elementOf(credentialIdentity(contractId), {
      issuer: registrar,
      holder,
      id: property,
      description: "",
      validFrom: null,
      validUntil: null,
      claims: [{ subject: holder, property, value: id }],
      observers: { map: [] },
    });
  const requires = (property: string): JsonObject => ({
    issuer: registrar,
    requiredClaims: [{ _1: property, _2: id }],
  });

  return [
    elementOf(mint, { operator, provider, mint: terms }),
    elementOf(transfer, served),
    elementOf(rule, served),
    elementOf(
      configurationIdentity(onlyIdIn(mint, "instrument-configuration"), "Instrument:InstrumentConfiguration", rule),
      {
        ...served,
        defaultIdentifier: { source: registrar, id, scheme: "RegistrarInternalScheme" },
        additionalIdentifiers: [],
        issuerRequirements: [requires("isIssuerOf")],
        holderRequirements: [requires("isHolderOf")],
      },
    ),
    elementOf(
      configurationIdentity(onlyIdIn(mint, "app-reward-configuration"), "AppReward:AppRewardConfiguration", rule),
      {
        operator,
        provider,
        details: { dso: "dso::1220", operatorAppRewardBeneficiary: { beneficiary: operator, weight: "0.2000000000" } },
      },
    ),
    credential(onlyIdIn(mint, "issuer-credentials"), sender, "isIssuerOf"),
    credential(onlyIdIn(transfer, "sender-credentials"), sender, "isHolderOf"),
    credential(onlyIdIn(accept, "receiver-credentials"), receiver, "isHolderOf"),
  ];
}

/** The identity of a contract: what a created event has besides its argument. */
type Identity = Pick<ExercisedEvent, "contractId" | "templateId" | "packageName">;

/** A configuration is of the same package as the transfer rule. */
const configurationIdentity = (contractId: string, name: string, rule: ExercisedEvent): Identity => ({
  contractId,
  templateId: `${rule.templateId.split(":", 1).join("")}:Utility.Registry.V0.Configuration.${name}`,
  packageName: rule.packageName,
});

/** The package id of the credentials is not recorded. */
const credentialIdentity = (contractId: string): Identity => ({
  contractId,
  templateId: `${"c".repeat(64)}:Utility.Credential.V0.Credential:Credential`,
  packageName: "utility-credential-v0",
});

/** The contract id of an entry that names one contract. */
function onlyIdIn(exercise: ExercisedEvent, entry: string): string {
  const [id, ...others] = contractIdsIn(contextOf(exercise)[`utility.digitalasset.com/${entry}`]);
  if (id === undefined || others.length > 0) throw new Error(`${entry} must name one contract`);
  return id;
}

/** The mint that the first update executed. */
function mintIn([update]: readonly RecordedUpdate[]) {
  const executed = update && creationsOf(update).find(({ templateId }) => templateId.endsWith(":ExecutedMint"));
  if (update === undefined || executed === undefined) throw new Error("the first update must execute a mint");
  const {
    operator,
    provider,
    mint: terms,
  } = executed.createArgument as {
    readonly operator: string;
    readonly provider: string;
    readonly mint: JsonObject & {
      readonly holder: string;
      readonly instrumentId: { readonly admin: string; readonly id: string };
    };
  };
  return { operator, provider, terms, synchronizerId: transactionOf(update).synchronizerId };
}
