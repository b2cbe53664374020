/** Two replicas on a database that a mirror fills: both pass, and answer alike. */
import { expect, test } from "vitest";
import { synchronizer } from "../../demo/element.js";
import { acme, elements, nordic, operator } from "../../demo/registry.js";
import { demo, PATH } from "../../scripts/conformance-doc.js";
import { becomesReady, MIRROR, onLedger, REPLICA } from "../ingest/database/services.js";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { failures } from "./modes.js";

test("replicas of a database pass, beside each other", async () => {
  const ledger = new ScriptedLedger({ synchronizerId: synchronizer, clock: () => new Date() });
  play(ledger, elements);
  const { start } = await onLedger({ ledger });
  const more = { ledgerParties: [operator, acme.provider, nordic.provider] };
  await start(MIRROR, more);
  const [first, second] = [await start(REPLICA, more), await start(REPLICA, more)];
  await becomesReady(first.url);
  await becomesReady(second.url);
  expect(await failures(first.url + PATH, { ...demo, replica: second.url + PATH })).toEqual([]);
});
