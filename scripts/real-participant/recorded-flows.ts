/** What Splice's test tokens were recorded to do on a ledger, as steps in order: requests to a registry, and commands. */
import { type CreatedEvent, read, type Transaction } from "../../test/fidelity/recordings.js";
import type { LedgerRecording, RecordedContract } from "../../test/fidelity/replayed-ledger.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { type Command, type Created, templates } from "./ledger.js";

const TOKEN_V1 = "splice-test-token-v1";

export interface Ask {
  readonly path: string;
  readonly body: JsonObject;
  readonly status: number;
  readonly answer: JsonValue;
}

export interface Submission {
  readonly actAs: readonly string[];
  readonly command: Command;
  readonly isAccepted: boolean;
  /** It was tried without the contracts of the answer. */
  readonly isBare: boolean;
  readonly created: Created;
}

export type Step = Ask | Submission;

export interface Recording {
  /** Party ids; the first is the registrar's. */
  readonly parties: readonly string[];
  /** A contract of each template, by its entity. */
  readonly examples: ReadonlyMap<string, Command>;
  /** When it began, in milliseconds since 1970. */
  readonly begun: number;
  /** What a flow begins with makes what it transfers. */
  readonly flows: readonly (readonly Step[])[];
}

interface Exercise {
  readonly templateId: string;
  readonly contractId: string;
  readonly choice: string;
  readonly choiceArgument: JsonObject;
}

interface RecordedCommand {
  readonly CreateCommand?: { readonly templateId: string; readonly createArguments: JsonObject };
  readonly ExerciseCommand?: Exercise;
}

function commandOf({ CreateCommand: create, ExerciseCommand: exercise }: RecordedCommand): Command {
  if (create !== undefined) return { templateId: create.templateId, argument: create.createArguments };
  if (exercise === undefined) throw new Error("the recording has a command that neither creates nor exercises");
  const { choiceArgument: argument, ...others } = exercise;
  return { ...others, argument };
}

const entityOf = (templateId: string): string => templateId.split(":").at(-1) ?? "";

function byEntity(events: readonly CreatedEvent[]): Created {
  const created: Record<string, string[]> = {};
  for (const { templateId, contractId } of events) (created[entityOf(templateId)] ??= []).push(contractId);
  return created;
}

/** Creates the same contract, by the name of its package. */
const creation = ({ templateId, packageName, createArgument: argument }: CreatedEvent): Command => ({
  templateId: templateId.replace(/^[^:]*/, `#${packageName}`),
  argument,
});

const examplesOf = (events: readonly CreatedEvent[]): ReadonlyMap<string, Command> =>
  new Map(events.map((event) => [entityOf(event.templateId), creation(event)]));

const begunBy = (events: readonly CreatedEvent[]): number =>
  Math.min(...events.map(({ createdAt }) => Date.parse(createdAt)));

/** The steps in flows, of which each begins where something is made for it. The first makes what all need. */
function inFlows(steps: readonly Step[], begins: (step: Submission) => boolean): Step[][] {
  const flows: Step[][] = [];
  for (const step of steps)
    if (flows.length === 0 || ("command" in step && begins(step))) flows.push([step]);
    else flows.at(-1)?.push(step);
  return flows;
}

const createdBy = ({ transaction }: JsonObject): CreatedEvent[] =>
  ((transaction as unknown as Transaction | undefined)?.events ?? []).flatMap(({ CreatedEvent: event }) => event ?? []);

/** TestTokenV2: what was sent to a registry and to the ledger, in order. */
export function testTokenV2(): Recording {
  const { setup, steps } = read("test-token-v2-ledger.json") as {
    readonly setup: readonly { readonly answer: { readonly partyDetails: { readonly party: string } } }[];
    readonly steps: readonly {
      readonly to: "ledger" | "registry";
      readonly method: "GET" | "POST";
      readonly path: string;
      readonly body: JsonObject;
      readonly status: number;
      readonly answer: JsonObject;
    }[];
  };
  const converted = steps
    .filter(({ method }) => method === "POST")
    .map(({ to, path, body, status, answer }): Step => {
      if (to === "registry") return { path: decodeURIComponent(path), body, status, answer };
      const { actAs, commands, disclosedContracts } = body["commands"] as unknown as {
        readonly actAs: readonly string[];
        readonly commands: readonly [RecordedCommand];
        readonly disclosedContracts: readonly JsonValue[];
      };
      return {
        actAs,
        command: commandOf(commands[0]),
        isAccepted: status === 200,
        isBare: disclosedContracts.length === 0,
        created: byEntity(createdBy(answer)),
      };
    });
  const events = steps.flatMap(({ answer }) => createdBy(answer));
  return {
    parties: setup.map(({ answer }) => answer.partyDetails.party),
    begun: begunBy(events),
    examples: examplesOf(events),
    flows: inFlows(converted, ({ command }) => command.choice === "TokenRules_OfferMint"),
  };
}

interface RecordedFlow {
  readonly request?: { readonly path: string; readonly body: JsonObject };
  readonly status?: number;
  readonly answer?: JsonValue;
  readonly actAs?: readonly string[];
  readonly command?: readonly [RecordedCommand];
  /** Of the transaction. */
  readonly offset?: number;
}

/**
 * TestTokenV1: requests with their commands; contracts that none of these made were created directly. Without the last two,
 * of a pending offer as the input of a transfer: the published package refuses what its recorded build accepted.
 */
export function testTokenV1(): Recording {
  const { parties, contracts, flows } = read("test-token-v1-ledger.json") as Pick<
    LedgerRecording,
    "contracts" | "parties"
  > & { readonly flows: readonly (RecordedFlow & { readonly askedAt: number })[] };
  const made = new Map<number, RecordedContract["createdEvent"][]>();
  for (const { createdAtOffset, createdEvent } of contracts)
    made.set(createdAtOffset, [...(made.get(createdAtOffset) ?? []), createdEvent]);
  const createdAt = (offset: number) => byEntity(made.get(offset) ?? []);
  const offsets = new Set(flows.map(({ offset }) => offset));
  const direct = [...made].filter(([offset]) => !offsets.has(offset));
  const steps: Step[] = [];
  const kept = flows.slice(0, -2);
  for (const { askedAt, request, status = 0, answer = {}, actAs = [], command: [command] = [], offset } of kept) {
    for (; direct[0] !== undefined && direct[0][0] <= askedAt; direct.shift()) {
      const [at, [event]] = direct[0];
      // The trading app's package is not needed: the parties of its trades settle and cancel as they do, together.
      if (event === undefined || event.packageName !== TOKEN_V1) continue;
      steps.push({
        actAs: event.signatories,
        command: creation(event),
        isAccepted: true,
        isBare: true,
        created: createdAt(at),
      });
    }
    if (request !== undefined) steps.push({ ...request, path: decodeURIComponent(request.path), status, answer });
    if (command === undefined || offset === undefined) continue;
    const submission = { isAccepted: true, isBare: false };
    const trade = command.ExerciseCommand?.choiceArgument["allocationsWithContext"];
    if (trade === undefined) {
      const names = actAs.map((name) => parties[name] ?? name);
      steps.push({ ...submission, actAs: names, command: commandOf(command), created: createdAt(offset) });
    } else {
      const choice = command.ExerciseCommand?.choice === "OTCTrade_Settle" ? "ExecuteTransfer" : "Cancel";
      for (const { _1: contractId } of Object.values(
        trade as unknown as Readonly<Record<string, { readonly _1: string }>>,
      ))
        steps.push({
          ...submission,
          actAs: ["exec", "alice", "carol"].map((name) => parties[name] ?? name),
          command: { templateId: templates.allocation, contractId, choice: `Allocation_${choice}`, argument: {} },
          created: {},
        });
    }
  }
  const events = contracts.map(({ createdEvent }) => createdEvent);
  return {
    parties: Object.values(parties),
    begun: begunBy(events),
    examples: examplesOf(events),
    flows: inFlows(steps, ({ command }) => command.choice === undefined),
  };
}
