/** Tokens of other make, answered from the files in registries/, against what a real ledger accepted. */
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { TOKEN_INTERFACES } from "../../src/domain/token-interfaces.js";
import { checkedRegistry } from "../../src/registry/checked-registry.js";
import { registryOf } from "../fixtures/in-memory.js";
import { viewsOf, withViews } from "./test-token-views.js";
import { read, type Transaction } from "./recordings.js";
import { recordingIn } from "./stepwise.js";
import { readContext } from "./contexts.js";
import { type Flow, replies } from "./replayed-ledger.js";

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

const recordings: readonly [string, string][] = [
  ["amulet", "amulet-0.1.14-ledger.json"],
  ["amulet", "amulet-0.1.17-ledger.json"],
  ["amulet", "amulet-upgrade-ledger.json"],
  ["simple-token", "simple-token-ledger.json"],
  ["test-token-v1", "test-token-v1-ledger.json"],
  ["test-token-v2", "test-token-v2-ledger.json"],
];

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
