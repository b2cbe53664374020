import { describe, expect, test } from "vitest";
import { allPackages, operatorOf } from "../fixtures/requests.js";
import { short, utilityFailure } from "../fixtures/context.js";
import { element, type Options, payload } from "../fixtures/elements.js";
import { instructions, registryOf, serving } from "../fixtures/registries.js";

const newer: Options = { createdAt: "2026-02-05T09:00:00.000000Z" };

describe("the operator", () => {
  test("is the party that the factory names", async () => {
    const { status, body } = await (await serving(registryOf())).get(operatorOf);
    expect([status, body]).toEqual([200, { partyId: "operator::1220" }]);
  });

  test("is that of the newest factory, whatever the order of the file", async () => {
    const two = registryOf(
      {},
      element("AllocationFactory", "a", payload.service({ operator: "operator-2::1220" }), newer),
    );
    for (const elements of [two, two.toReversed()]) {
      expect((await (await serving(elements)).get(operatorOf)).body).toEqual({ partyId: "operator-2::1220" });
    }
  });

  test("is not found if no factory names one", async () => {
    expect(short(await (await serving([])).get(operatorOf))).toEqual(utilityFailure(404, "operator"));
  });
});

const rule = (id: string, packageId: string, options: Options = {}) =>
  element("TransferRule", id, payload.service(), { packageId, ...options });

const packages = async (elements: Parameters<typeof serving>[0]): Promise<unknown> => {
  const { status, body } = await (await serving(elements)).get(allPackages);
  return [status, body];
};

describe("the packages", () => {
  test("are an empty list without contracts", async () => {
    expect(await packages([])).toEqual([200, { packages: [] }]);
  });

  test("are those of the stored contracts, each once, sorted by name", async () => {
    expect(await packages(registryOf({}, ...instructions()).toReversed())).toEqual([
      200,
      {
        packages: [
          { name: "splice-amulet", id: "pkg-1" },
          { name: "utility-credential-v0", id: "pkg-1" },
          { name: "utility-registry-app-v0", id: "pkg-1" },
          { name: "utility-registry-holding-v0", id: "pkg-1" },
          { name: "utility-registry-v0", id: "pkg-1" },
        ],
      },
    ]);
  });

  test("have several ids of one name after an upgrade, sorted by id", async () => {
    const elements = [
      rule("c", "pkg-3"),
      rule("a", "pkg-2", newer),
      rule("d", "pkg-2"),
      rule("b", "pkg-10"),
      element("AllocationFactory", "factory", payload.service(), { packageId: "pkg-9" }),
      element("MintRequest", "mint", payload.mint("alice", "USD"), { packageId: "pkg-8" }),
    ];
    expect(await packages(elements)).toEqual([
      200,
      {
        packages: [
          { name: "utility-registry-app-v0", id: "pkg-8" },
          { name: "utility-registry-app-v0", id: "pkg-9" },
          { name: "utility-registry-v0", id: "pkg-10" },
          { name: "utility-registry-v0", id: "pkg-2" },
          { name: "utility-registry-v0", id: "pkg-3" },
        ],
      },
    ]);
  });
});

test.each([operatorOf, allPackages])("%s may carry a content type, an authorization and a query", async (path) => {
  const running = await serving(registryOf());
  const plain = await running.get(path);
  const headers = { "content-type": "application/json", authorization: "Bearer not.a.token" };
  const response = await fetch(`${running.url}${path}?unknown=1`, { headers });
  expect(plain.status).toBe(200);
  expect([response.status, await response.json()]).toEqual([200, plain.body]);
});
