import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createGroup, FairQueue, type Group, type Member } from "../../../src/transport/admission/fair-queue.js";

const memberOf = (group: Group): Member & { blocked: boolean } => ({
  group,
  waiting: [],
  isListed: false,
  turn: -1,
  runs: 0,
  blocked: false,
  isBlocked() {
    return this.blocked;
  },
});

const unlimited = { member: 2, group: 3, waiting: Infinity };

/** Runs a job at once if the member may, or lets it wait, as the listener does. */
function submit(queue: FairQueue, member: Member, job: () => void): void {
  if (queue.mayRun(member)) job();
  else queue.add(member, job);
}

async function settle(member: readonly Member[]): Promise<void> {
  for (let turn = 0; turn < 1_000 && member.some(({ waiting }) => waiting.length > 0); turn++) await nextTurn();
}

describe("in one turn", () => {
  test("a member runs its share at once, and the rest later, in order", async () => {
    const queue = new FairQueue(unlimited);
    const member = memberOf(createGroup());
    const ran: number[] = [];
    for (let at = 0; at < 5; at++) submit(queue, member, () => ran.push(at));
    expect(ran).toEqual([0, 1]);
    await settle([member]);
    expect(ran).toEqual([0, 1, 2, 3, 4]);
  });

  test("a group runs its share at once", () => {
    const queue = new FairQueue(unlimited);
    const group = createGroup();
    const ran: number[] = [];
    for (let at = 0; at < 5; at++) submit(queue, memberOf(group), () => ran.push(at));
    expect(ran).toEqual([0, 1, 2]);
  });

  test("a member that has something waiting does not overtake itself", () => {
    const queue = new FairQueue(unlimited);
    const member = memberOf(createGroup());
    queue.add(member, () => undefined);
    expect(queue.mayRun(member)).toBe(false);
  });
});

test("the share starts again in the next turn", async () => {
  const queue = new FairQueue(unlimited);
  const member = memberOf(createGroup());
  expect([queue.mayRun(member), queue.mayRun(member), queue.mayRun(member)]).toEqual([true, true, false]);
  await nextTurn();
  expect(queue.mayRun(member)).toBe(true);
});

test("what waits runs in round robin: by group, then by member", async () => {
  const queue = new FairQueue(unlimited);
  const [one, other] = [createGroup(), createGroup()];
  const [a, b, c] = [memberOf(one), memberOf(one), memberOf(other)];
  const ran: string[] = [];
  for (let at = 0; at < 4; at++) queue.add(a, () => ran.push("a"));
  for (let at = 0; at < 2; at++) queue.add(b, () => ran.push("b"));
  for (let at = 0; at < 3; at++) queue.add(c, () => ran.push("c"));
  await settle([a, b, c]);
  expect(ran.join("")).toBe("acbcacbaa");
});

test("a member that is blocked waits until it is resumed", async () => {
  const queue = new FairQueue(unlimited);
  const member = memberOf(createGroup());
  member.blocked = true;
  let ran = 0;
  queue.add(member, () => ran++);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(ran).toBe(0);
  member.blocked = false;
  queue.resume(member);
  await settle([member]);
  expect(ran).toBe(1);
});

test("others run while one has work for a long time", async () => {
  const queue = new FairQueue({ member: 1, group: 1, waiting: Infinity });
  const [busy, honest] = [memberOf(createGroup()), memberOf(createGroup())];
  let busyRuns = 0;
  const work = () => {
    const until = performance.now() + 1;
    while (performance.now() < until);
    if (++busyRuns < 500) queue.add(busy, work);
  };
  queue.add(busy, work);
  let busyRunsBefore = -1;
  queue.add(honest, () => (busyRunsBefore = busyRuns));
  await settle([honest]);
  expect(busyRunsBefore).toBeLessThanOrEqual(2);
  busyRuns = 500;
  await settle([busy]);
});

async function acceptMany(queue: FairQueue): Promise<void> {
  for (let turn = 0; turn < 128; turn++) {
    queue.accepted();
    await nextTurn();
  }
}

/** A member with a job that waits, and how often the job has run. */
async function hold() {
  const queue = new FairQueue(unlimited);
  const member = memberOf(createGroup());
  await acceptMany(queue);
  let ran = 0;
  submit(queue, member, () => ran++);
  return { queue, member, ran: () => ran };
}

describe("while turn after turn accepts a connection", () => {
  test("what would run waits, and then runs within its shares", async () => {
    const queue = new FairQueue({ member: 2, group: 2, waiting: 1 });
    const [member, busy] = [memberOf(createGroup()), memberOf(createGroup())];
    expect(queue.mayRun(member)).toBe(true);
    await acceptMany(queue);
    const ran: string[] = [];
    for (let at = 0; at < 3; at++) submit(queue, busy, () => ran.push("busy"));
    for (let at = 0; at < 3; at++) submit(queue, member, () => ran.push("held"));
    const before = ran.filter((name) => name === "held").length;
    await settle([member, busy]);
    expect(before).toBe(0);
    expect(ran.filter((name) => name === "held")).toHaveLength(3);
    // Its share of one turn.
    expect(ran.join(" ")).toContain("held held");
  });

  test("a job of a connection that closes does not run", async () => {
    const { member, ran } = await hold();
    member.waiting.length = 0;
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    expect(ran()).toBe(0);
  });

  test("a member that is blocked waits until it is resumed", async () => {
    const { queue, member, ran } = await hold();
    member.blocked = true;
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    expect(ran()).toBe(0);
    member.blocked = false;
    queue.resume(member);
    await settle([member]);
    expect(ran()).toBe(1);
  });
});

test("in each turn at most so many run that have waited", async () => {
  const queue = new FairQueue({ member: 1, group: 1, waiting: 2 });
  const member = memberOf(createGroup());
  let ran = 0;
  for (let at = 0; at < 6; at++) queue.add(member, () => ran++);
  const counts: number[] = [];
  while (ran < 6) {
    await nextTurn();
    counts.push(ran);
  }
  expect(counts.every((count, at) => count - (counts[at - 1] ?? 0) <= 2)).toBe(true);
});
