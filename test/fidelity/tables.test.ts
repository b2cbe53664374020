/** Tokens of other make, answered from the files in registries/, against what a real ledger accepted. */
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { TOKEN_INTERFACES } from "../../src/domain/token-interfaces.js";
import { checkedRegistry } from "../../src/registry/checked-registry.js";
import { registryOf } from "../fixtures/in-memory.js";
import { viewsOf, withViews } from "./test-token-views.js";
import { read, type Transaction } from "./recordings.js";
import { readContext } from "./contexts.js";
import { type Flow, type LedgerRecording, type RecordedContract, replies } from "./replayed-ledger.js";

/** A created event of the recording with views. */
interface Shown {
  readonly templateId: string;
  readonly createArgument: JsonObject;
  readonly interfaceViews: readonly { readonly interfaceId: string; readonly viewValue: JsonObject }[];
}

test("the views that the recordings of the test tokens lack are computed as the package does", () => {
  const { testTokenV2 } = read("interface-views-3.5.json") as {
    readonly testTokenV2: { readonly updates: readonly { update: { Transaction?: { value: Transaction } } }[] };
  };
  const created = testTokenV2.updates
    .flatMap(({ update }) => update.Transaction?.value.events ?? [])
    .flatMap(({ CreatedEvent }) => (CreatedEvent as Shown | undefined) ?? []);
  const counts = created.map(({ templateId, createArgument, interfaceViews }) => {
    const computed = Object.entries(viewsOf(templateId, createArgument));
    const shown = computed.map(([name, view]) => {
      const known = TOKEN_INTERFACES.find(({ kind, version }) => name === `${kind}/${version}`);
      const recorded = interfaceViews.find(({ interfaceId }) => interfaceId.endsWith(`:${known?.qualifiedName}`));
      expect(recorded?.viewValue).toMatchObject(view);
      return name;
    });
    // Whatever shows a view of version 2.
    expect(shown.length).toBe(interfaceViews.filter(({ interfaceId }) => /V2:\w+$/.test(interfaceId)).length);
    return shown.length;
  });
  expect(counts.length).toBe(194);
});

/** What the ledger reads of an answer. */
function readable(answer: JsonValue): object {
  const { disclosed, ...others } = readContext(answer);
  return { ...others, disclosed: disclosed.map(({ contractId }) => contractId).toSorted() };
}

/** The recording of TestTokenV2: what was asked of a registry and of the ledger, one after the other. */
interface Step {
  readonly to: "ledger" | "registry";
  readonly method: "POST";
  readonly path: string;
  readonly body?: JsonObject;
  readonly status: number;
  readonly answer: JsonObject;
}

/** The flows whose answers the ledger got, with the contracts that its transactions made. */
function recordingOf(steps: readonly Step[]): Pick<LedgerRecording, "contracts" | "flows"> {
  const contracts = new Map<string, RecordedContract>();
  const flows: Flow[] = [];
  let offset = 1;
  for (const { to, status, path, body, answer } of steps) {
    if (to === "registry") {
      if (answer["choiceContextData"] === undefined && answer["factoryId"] === undefined) continue;
      const request = { method: "POST" as const, path, ...(body !== undefined && { body }) };
      flows.push({ set: "", name: path, askedAt: offset, request, status, answer, outcome: "accepted" });
    } else if (status === 200 && answer["transaction"] !== undefined) {
      const transaction = answer["transaction"] as unknown as Transaction;
      ({ offset } = transaction);
      for (const { CreatedEvent: created, ExercisedEvent: exercised } of transaction.events) {
        if (created !== undefined) {
          const createdEvent = { ...created, createdEventBlob: "AAAA" } as RecordedContract["createdEvent"];
          const { synchronizerId } = transaction;
          contracts.set(created.contractId, { createdEvent, synchronizerId, createdAtOffset: offset });
        }
        const archived = exercised?.consuming === true ? contracts.get(exercised.contractId) : undefined;
        if (archived !== undefined)
          contracts.set(archived.createdEvent.contractId, { ...archived, archivedAtOffset: offset });
      }
    }
  }
  return { contracts: [...contracts.values()], flows };
}

const recordings: readonly [string, string][] = [
  ["amulet", "amulet-0.1.14-ledger.json"],
  ["amulet", "amulet-0.1.17-ledger.json"],
  ["amulet", "amulet-upgrade-ledger.json"],
  ["simple-token", "simple-token-ledger.json"],
  ["test-token-v1", "test-token-v1-ledger.json"],
  ["test-token-v2", "test-token-v2-ledger.json"],
];

function recordingIn(name: string): Pick<LedgerRecording, "contracts" | "flows"> {
  const content = read(name) as LedgerRecording & { readonly steps?: readonly Step[] };
  return content.steps === undefined ? content : recordingOf(content.steps);
}

describe("every answer that the ledger accepted", () => {
  test.each(recordings)("%s: %s", async (name, recording) => {
    const { contracts, flows } = recordingIn(recording);
    const asked = flows.filter(({ status }) => status === 200);
    expect(asked.length).toBeGreaterThan(10);
    const shown = name.startsWith("test-token") ? contracts.map(withViews) : contracts;
    const answers = await replies(asked, shown, checkedRegistry(registryOf(`${name}.yaml`)));
    const compared = asked.map((flow) => {
      const replied = answers.get(flow);
      return { name: flow.name, answer: replied?.status === 200 ? readable(replied.body) : replied };
    });
    expect(compared).toEqual(asked.map((flow: Flow) => ({ name: flow.name, answer: readable(flow.answer) })));
  });
});
