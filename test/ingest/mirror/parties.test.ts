/** A mirror whose parties are those of the token's user, which change. In virtual time. */
import { describe, expect, test } from "vitest";
import type { ReadAs } from "../../../src/domain/ledger.js";
import { Applier } from "../../../src/ingest/applier.js";
import { LagTracker } from "../../../src/ingest/lag.js";
import { Decoder } from "../../../src/ledger/decode.js";
import type { UpdateStream } from "../../../src/ledger/participant/client.js";
import { LedgerError } from "../../../src/ledger/participant/errors.js";
import { transferOffer } from "../../../src/registry/utility/templates.js";
import { MemoryStore } from "../../../src/state/memory-store.js";
import { mirrored } from "../../simulation/mirrored.js";
import { offer, operator } from "../../simulation/script.js";

const OTHER = "other::1220";
const BOTH = [operator, OTHER].toSorted();

/** Of the operator is the offer `first`, of the other party `others`. Neither of them sees that of a third one. */
function setUp(rights: ReadAs | LedgerError = [operator]) {
  const setup = mirrored({ rights });
  const { ledger, store, logged, mirror } = setup;
  const of = (party: string, contractId: string) => ({ ...offer(contractId), signatories: [party] });
  const create = (party: string, contractId: string) => void ledger.transact([{ create: of(party, contractId) }]);
  create(OTHER, "others");
  create("third::1220", "thirds");
  const served = () =>
    store.read((view) =>
      view
        .all(transferOffer)
        .map(({ contractId }) => contractId)
        .toSorted(),
    );
  const lines = (text: string) => logged.filter((line) => line.includes(text));
  /** How a request for an unknown contract ends. */
  const ask = async () => {
    let last: string | undefined;
    const asked = (async () => {
      for await (const progress of mirror.catchUp()) last = progress;
    })();
    await setup.advance(1_500);
    await asked;
    return last;
  };
  return { ...setup, create, served, lines, ask };
}

const GRANTED = "info the token's user may read as other parties; a new snapshot is taken";
const WITHDRAWN = "error the token's user may no longer read as a party; contracts read before are still served";
const none = new LedgerError("no-parties", "user u has no right");

test("a right that is granted later adds what its party sees, within 35 s and in one step", async () => {
  const { client, served, advance, create, lines, snapshots, mirror, ask, participant } = setUp();
  await advance(5_000);
  expect(served()).toEqual(["first"]);
  client.rights = BOTH;
  participant.snapshotDelays.push(5_000);
  // Not by the stream, as long as the older contracts are not there.
  const seen = new Set<string>();
  for (let waited = 0; waited < 40_000; waited += 500) {
    create(OTHER, `new-${waited}`);
    await advance(500);
    const now = served();
    seen.add(now.includes("others") ? "all" : now.join());
    expect(mirror.notReadyReason()).toBeUndefined();
  }
  expect(seen).toEqual(new Set(["first", "all"]));
  expect([snapshots.length, lines(GRANTED).length, lines(WITHDRAWN).length]).toEqual([2, 1, 0]);
  expect(snapshots[1]).toBeLessThan(41_000);
  expect(await ask()).toBe("reached");
  expect(served()).toHaveLength(82);
});

test("a right that is granted while a snapshot is read is in the next, which is taken at once", async () => {
  const { client, served, advance, participant, snapshots } = setUp();
  participant.snapshotDelays.push(50_000);
  await advance(5_000);
  client.rights = BOTH;
  await advance(60_000);
  expect(served()).toEqual(["first", "others"]);
  expect(snapshots).toHaveLength(2);
});

test("a right that is taken away is an incident: its contracts go, the others are followed", async () => {
  const { client, served, advance, create, lines, mirror, snapshots, ask } = setUp(BOTH);
  await advance(5_000);
  expect(served()).toEqual(["first", "others"]);
  client.rights = [operator];
  await advance(35_000);
  expect(served()).toEqual(["first"]);
  expect(lines(WITHDRAWN)).toEqual([expect.stringContaining(`it may no longer read as ${OTHER}"`)]);
  expect(lines("info following the ledger again")).toHaveLength(1);
  create(OTHER, "hidden");
  create(operator, "second");
  expect(await ask()).toBe("reached");
  expect(served()).toEqual(["first", "second"]);
  expect([mirror.notReadyReason(), snapshots.length]).toEqual([undefined, 2]);
});

test("of a stream that is abandoned nothing is applied: it was asked for as other parties", async () => {
  const writer = new MemoryStore();
  await writer.replace([], 1);
  const clock = () => 0;
  const lag = new LagTracker({ unreadyAfter: 1, staleAfter: 1 }, clock, () => Promise.resolve(1));
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const applier = new Applier({
    ledger: { missing: [] },
    decoder: new Decoder([]),
    writer,
    lag,
    log,
    findMissing: () => Promise.resolve(),
  });
  const stream = { hasEnded: false, close: () => undefined } as unknown as UpdateStream;
  const update = (offset: number) => ({
    update: { Transaction: { value: { offset, updateId: `u${offset}`, events: [] } } },
  });
  applier.follow(stream);
  expect([await applier.apply([update(2)], stream), writer.checkpoint?.offset]).toEqual([true, 2]);
  applier.abandon(new Error("other parties"));
  expect([await applier.apply([update(3)], stream), writer.checkpoint?.offset]).toEqual([false, 2]);
});

test("when the stream ends with the change of a right, the rights are read before the next begins", async () => {
  const { client, served, advance, participant, logged } = setUp(BOTH);
  await advance(5_000);
  client.rights = [operator];
  const stale = new LedgerError("denied", "Stale stream authorization", "STALE_STREAM_AUTHORIZATION");
  for (const wire of participant.wires) wire.end(stale);
  await advance(2_000);
  expect(served()).toEqual(["first"]);
  expect(logged.join("\n")).not.toContain("credentials");
});

describe("without any party", () => {
  test("it waits for the first, and says what to grant", async () => {
    const { client, served, advance, lines, mirror, snapshots } = setUp(none);
    await advance(100_000);
    expect(mirror.notReadyReason()).toBe(
      "no snapshot of the ledger has been taken yet: there are no parties to read the participant as (user u has no right)",
    );
    expect(lines("there are no parties to read the participant as; no contracts were read yet")).toEqual([
      expect.stringMatching(/^warn .*"hint":"grant the token's user CanReadAs/),
    ]);
    expect(snapshots).toEqual([]);
    client.rights = [OTHER];
    await advance(12_000);
    expect([served(), mirror.notReadyReason()]).toEqual([["others"], undefined]);
  });

  test("after the last was taken away it is not ready, and resumes when that is given back", async () => {
    const { client, served, advance, create, mirror, snapshots } = setUp();
    await advance(5_000);
    create(operator, "second");
    await advance(5_000);
    client.rights = none;
    // The look-out, and the time after which contracts are too old.
    await advance(65_000);
    expect(mirror.notReadyReason()).toMatch(
      /^the ledger has not been reached for \d+ s: there are no parties .*\(user u has/,
    );
    create(operator, "meanwhile");
    client.rights = [operator];
    await advance(12_000);
    expect([served(), mirror.notReadyReason()]).toEqual([["first", "meanwhile", "second"], undefined]);
    expect(snapshots).toHaveLength(1);
  });
});

test("while the rights cannot be read those known before are used, with one warning, and a change is found afterwards", async () => {
  const { client, served, advance, create, lines, mirror, participant } = setUp();
  await advance(5_000);
  client.rights = new LedgerError("busy", "status 503");
  await advance(100_000);
  participant.cutAll();
  create(operator, "second");
  await advance(40_000);
  expect([served(), mirror.notReadyReason()]).toEqual([["first", "second"], undefined]);
  expect(lines("the rights of the token's user cannot be read")).toEqual([expect.stringMatching(/^warn .*status 503/)]);
  client.rights = BOTH;
  await advance(35_000);
  expect(served()).toEqual(["first", "others", "second"]);
});

test("any party is every contract, and no witness is then taken for a party of ours", async () => {
  const { client, served, advance, decoder, lines } = setUp();
  await advance(5_000);
  expect(decoder.hasOwnWitnesses).toBe(true);
  client.rights = "any";
  await advance(35_000);
  expect(served()).toEqual(["first", "others", "thirds"]);
  expect(decoder.hasOwnWitnesses).toBe(false);
  client.rights = BOTH;
  await advance(35_000);
  expect(served()).toEqual(["first", "others"]);
  expect(decoder.hasOwnWitnesses).toBe(true);
  expect(lines(WITHDRAWN)).toEqual([expect.stringContaining("may no longer read as any party")]);
});
