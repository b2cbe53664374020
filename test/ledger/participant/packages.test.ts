/** The versions of packages, from the scripted participant and from servers that answer otherwise. */
import { expect, onTestFinished, test } from "vitest";
import { Participant } from "../../scripted-participant/participant.js";
import type { Vetted } from "../../scripted-participant/calls.js";
import { ParticipantPackages } from "../../../src/ledger/participant/packages.js";
import { endpointAt, failureOf, serving } from "./servers.js";

const id = (digit: number): string => String(digit).repeat(64);
const packageOf = (digit: number) => ({
  packageId: id(digit),
  packageName: `package-${digit}`,
  packageVersion: `0.${digit}.0`,
});
const ofParticipant = (name: string, packages: Vetted["packages"]): Vetted => ({
  participantId: `${name}::1220`,
  synchronizerId: "sync-A::1220",
  packages,
});

async function asking(vetted: readonly Vetted[]) {
  const participant = await Participant.start({ vetted });
  onTestFinished(() => participant.stop());
  return { participant, packages: new ParticipantPackages(endpointAt(new URL(participant.url))) };
}

const named = (...digits: readonly number[]) =>
  new Map(digits.map((digit) => [id(digit), { name: `package-${digit}`, version: `0.${digit}.0` }]));

test("those of all participants are merged, also over pages; one that our own does not have has no name", async () => {
  const others = Array.from({ length: 23 }, (_, index) => ofParticipant(`p${index}`, [packageOf(index % 9)]));
  const unnamed = ofParticipant("other", [{ packageId: id(9) }]);
  const { packages, participant } = await asking([unnamed, ...others]);
  expect(await packages.versions()).toEqual(named(0, 1, 2, 3, 4, 5, 6, 7, 8));
  // 24 participants, ten on a page, and an empty page at the end.
  expect(participant.requests).toHaveLength(4);
});

test("those with given ids are asked for once; unknown and malformed ids have none", async () => {
  const { packages, participant } = await asking([ofParticipant("p", [packageOf(1), packageOf(2), packageOf(3)])]);
  expect(await packages.versions([id(1), id(3), id(1)])).toEqual(named(1, 3));
  expect(participant.requests).toHaveLength(1);
  expect(participant.requests[0]?.body).toMatchObject({ packageMetadataFilter: { packageIds: [id(1), id(3)] } });
  expect(await packages.versions([id(1), id(7), "xyz"])).toEqual(named(1));
  expect(await packages.versions([id(7)])).toEqual(new Map());
});

test.each([403, 404, 405, 501])("a participant that answers %i tells none", async (status) => {
  const url = await serving((_request, response) => void response.writeHead(status).end());
  expect(await new ParticipantPackages(endpointAt(url)).versions()).toBeUndefined();
});

test.each<[number, string, string]>([
  [503, "", "busy"],
  [401, "", "denied"],
  [200, "{}", "unreadable"],
  [200, '{"vettedPackages":[5]}', "unreadable"],
  [200, '{"vettedPackages":[{"packages":{}}]}', "unreadable"],
])("an answer with status %i and %j fails: %s", async (status, body, kind) => {
  const url = await serving((_request, response) => void response.writeHead(status).end(body));
  expect(await failureOf(new ParticipantPackages(endpointAt(url)).versions())).toMatchObject({ kind });
});

test("pages without end are bounded", async () => {
  let count = 0;
  const url = await serving((_request, response) => {
    count++;
    response.end(JSON.stringify({ vettedPackages: [{ packages: [packageOf(1)] }], nextPageToken: "more" }));
  });
  expect(await new ParticipantPackages(endpointAt(url)).versions()).toEqual(named(1));
  expect(count).toBe(100);
});
