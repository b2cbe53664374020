/** The age of a replica: by its own monotonic clock and the mirror's, whatever becomes of a log. test/simulation sets clocks. */
import { expect, test } from "vitest";
import { Confirmation } from "../../src/state/confirmation.js";

const HOUR = 3_600_000;

/** A mirror, a database and a replica, whose clocks differ. Times are in milliseconds. */
class World {
  /** Monotonic, of the replica. */
  replica = 5_000;
  /** Of the database, which tells the time. */
  database = Date.UTC(2026, 0, 5);
  /** The mirror's own, undefined while it does not know. */
  age: number | undefined = 0;
  row: { count: number; writtenAt: number; confirmedAt: number | undefined } | undefined;
  readonly confirmation = new Confirmation();

  heartbeat(): void {
    const confirmedAt = this.age === undefined ? this.row?.confirmedAt : this.database - this.age;
    this.row = { count: (this.row?.count ?? 0) + 1, writtenAt: this.database, confirmedAt };
  }

  /** Without heartbeats the mirror's age is not known to anybody. */
  pass(ms: number): void {
    this.replica += ms;
    this.database += ms;
  }

  look(): void {
    const row = this.row;
    const elapsed = row?.confirmedAt === undefined ? undefined : this.database - row.confirmedAt;
    this.confirmation.observe(row && { ...row, elapsed }, this.replica);
  }

  /** A mirror that lives, and a replica that looks, for some seconds. */
  live(seconds: number): void {
    for (let second = 0; second < seconds; second++) {
      this.heartbeat();
      this.pass(500);
      this.look();
      this.pass(500);
    }
  }

  get ageOfReplica(): number {
    return this.confirmation.at === undefined ? Infinity : this.replica - this.confirmation.at;
  }
}

test("the same heartbeat renews nothing, however often it is seen", () => {
  const world = new World();
  world.live(3);
  const before = world.ageOfReplica;
  for (let second = 0; second < 100; second++) {
    world.pass(1_000);
    world.look();
  }
  expect(world.ageOfReplica).toBe(before + 100_000);
});

test("a mirror that does not know its age renews nothing", () => {
  const world = new World();
  world.live(3);
  world.age = undefined;
  const before = world.ageOfReplica;
  world.live(20);
  expect(world.ageOfReplica).toBe(before + 20_000);
  world.age = 0;
  world.live(2);
  expect(world.ageOfReplica).toBeLessThan(3_000);
});

test("a database that is restored from a backup renews nothing", () => {
  const world = new World();
  world.live(3);
  const backup = world.row;
  world.live(3);
  world.row = backup;
  const before = world.ageOfReplica;
  world.pass(HOUR);
  world.look();
  world.pass(1_000);
  world.look();
  expect(world.ageOfReplica).toBe(before + HOUR + 1_000);
});

test("a restored heartbeat from before the clock was set back renews nothing", () => {
  const world = new World();
  world.live(3);
  const backup = world.row;
  world.database -= 2 * HOUR;
  world.live(3);
  // Other heartbeats, of a mirror that does not reach the ledger.
  world.age = 0;
  for (let second = 0; second < 60; second++) {
    world.age += 1_000;
    world.pass(1_000);
    world.heartbeat();
    world.look();
  }
  world.row = backup;
  world.look();
  expect(world.ageOfReplica).toBeGreaterThanOrEqual(60_000);
});
