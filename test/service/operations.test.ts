/** The rpcs of operations, which are found by their names. */
import { expect, test } from "vitest";
import { CHOICES, FACTORIES, ISSUANCE_CHOICES, ISSUANCE_FACTORIES } from "../../src/registry/operation-names.js";
import { contractFieldOf, OPERATION_RPCS } from "../../src/service/operations.js";
import { bindingOf } from "../../src/transport/rest/bindings.js";

test("every operation has an rpc", () => {
  const names = [...FACTORIES, ...CHOICES, ...ISSUANCE_FACTORIES, ...ISSUANCE_CHOICES];
  expect(new Set(OPERATION_RPCS.map(({ operation }) => operation))).toEqual(new Set(names));
});

/** `mint-offer/accept` for `…/registry/mint/v0/offer/:mint_offer_id/choice-contexts/accept`. */
function operationAt(route: string): string {
  const [, api = "", rest = ""] = /\/registry\/([\w-]+?)s?\/v\d\/(.*)$/.exec(route) ?? [];
  const words = rest.split("/").filter((word) => !word.startsWith(":") && word !== "choice-contexts");
  const [first = "", second = "create"] = words;
  if (first.endsWith("-factory")) return first;
  return api === "mint" || api === "burn" ? `${api}-${first}/${second}` : `${api}/${first}`;
}

test.each(OPERATION_RPCS)("the path of $method.name of $method.parent.typeName is of $operation", (rpc) => {
  const { route = "" } = bindingOf(rpc.method) ?? {};
  expect(operationAt(route)).toBe(rpc.operation);
  expect(route).toContain(`/${rpc.version ?? "v0"}/`);
});

test.each(OPERATION_RPCS.filter(({ method }) => (bindingOf(method)?.route ?? "").includes("/choice-contexts/")))(
  "the path of $method.name of $method.parent.typeName has the contract id",
  (rpc) => {
    expect(bindingOf(rpc.method)?.inPath.at(-1)?.localName).toBe(contractFieldOf(rpc));
  },
);
