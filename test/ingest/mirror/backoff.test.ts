/** A stream that breaks again and again is opened ever more rarely, and so are snapshots taken. In virtual time. */
import { expect, test } from "vitest";
import { LedgerError } from "../../../src/ledger/participant/errors.js";
import { mirrored } from "../../simulation/mirrored.js";
import { offer } from "../../simulation/script.js";

const MINUTE = 60_000;

type Setup = ReturnType<typeof mirrored>;

const cutAfter =
  (ms: number) =>
  ({ clock, client, participant }: Setup): void => {
    client.breakStream = () => {
      const wire = [...participant.wires].at(-1);
      clock.after(ms, () => wire?.end(new LedgerError("lost", "the stream was cut (close code 1006)")));
    };
  };

/** How it breaks, the shortest time between snapshots in the end, and the most snapshots of ten minutes. */
test.each<[string, (setup: Setup) => void, number, number]>([
  ["is cut after each snapshot", cutAfter(50), 10_000, 70],
  // By then a poll has found it open, and a checkpoint has come.
  ["is cut once it is known to be open", cutAfter(4_000), 13_000, 55],
  [
    "brings an update that cannot be read",
    ({ client, participant }) => {
      client.breakStream = () => [...participant.wires].at(-1)?.send({ update: { Transaction: { value: 1 } } });
    },
    30_000,
    30,
  ],
  [
    // Two participants behind one address.
    "is left at an end that is lower",
    ({ clock, client, participant }) => {
      client.breakStream = () => void clock.after(500, () => participant.callFaults.push("lowerEnd"));
    },
    10_000,
    70,
  ],
])("a stream that %s", async (_how, breakIt, apartMs, most) => {
  const setup = mirrored();
  breakIt(setup);
  await setup.advance(10 * MINUTE);
  const { snapshots } = setup;
  expect(snapshots.length).toBeLessThan(most);
  const [before = 0, last = 0] = snapshots.slice(-2);
  expect(last - before).toBeGreaterThanOrEqual(apartMs);
});

test("an applied update ends the row: a later cut is mended at once, without a snapshot", async () => {
  const setup = mirrored();
  cutAfter(50)(setup);
  await setup.advance(5 * MINUTE);
  setup.client.breakStream = () => undefined;
  await setup.advance(20_000);
  const taken = setup.snapshots.length;
  setup.ledger.transact([{ create: offer("second") }]);
  await setup.advance(1_000);
  setup.participant.cutAll();
  setup.ledger.transact([{ create: offer("third") }]);
  await setup.advance(1_000);
  expect(setup.mirror.notReadyReason()).toBeUndefined();
  expect(setup.logged.at(-1)).toContain("following the ledger again");
  expect(setup.snapshots).toHaveLength(taken);
});

test("an incident ends once the stream is known to be open, on a ledger on which nothing happens", async () => {
  const setup = mirrored();
  cutAfter(50)(setup);
  await setup.advance(10_000);
  expect(setup.logged.filter((line) => line.includes("following the ledger again"))).toEqual([]);
  setup.client.breakStream = () => undefined;
  await setup.advance(20_000);
  expect(setup.logged.at(-1)).toContain("following the ledger again");
});
