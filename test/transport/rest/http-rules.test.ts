/** The routes of REST: those of the specification, from the http rules of the proto files. */
import { create, createFileRegistry, type DescMethod, type MessageInitShape, setExtension } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import { fastify } from "fastify";
import { describe, expect, test } from "vitest";
import { http } from "../../../gen/google/api/annotations_pb.js";
import { HttpRuleSchema } from "../../../gen/google/api/http_pb.js";
import { type Binding, bindingsOf } from "../../../src/transport/rest/http-rules.js";
import { parsePathTemplate } from "../../../src/transport/rest/path-template.js";
import { valueOf } from "../../../src/transport/rest/rest.js";
import { rpcs } from "../../fixtures/services.js";

const R = "/api/token-standard/v0/registrars/{registrarParty}/registry";
const U = "/api/utilities/v0";
type Route = readonly [method: string, path: string, hasBody: boolean];
const choices = (path: string, verbs: string, hasBody: boolean) =>
  verbs.split(" ").map((verb): Route => ["POST", `${path}/choice-contexts/${verb}`, hasBody]);
const issuance = "accept reject cancel";

/** The endpoints of surface.md. */
const documented: readonly Route[] = [
  ["POST", `${R}/allocation/v2/settlement-factory`, true],
  ["POST", `${R}/transfer-instruction/v1/transfer-factory`, true],
  ["POST", `${R}/transfer-instruction/v2/transfer-factory`, true],
  ...choices(`${R}/transfer-instruction/v1/{transferInstructionId}`, "accept reject withdraw", true),
  ...choices(`${R}/transfer-instruction/v2/{transferInstructionId}`, "accept reject withdraw", true),
  ["POST", `${R}/allocation-instruction/v1/allocation-factory`, true],
  ["POST", `${R}/allocation-instruction/v2/allocation-factory`, true],
  ...choices(`${R}/allocation-instruction/v2/{allocationInstructionId}`, "accept withdraw", true),
  ...choices(`${R}/allocations/v1/{allocationId}`, "execute-transfer withdraw cancel", true),
  ...choices(`${R}/allocations/v2/{allocationId}`, "withdraw cancel", true),
  ["GET", `${R}/metadata/v1/info`, false],
  ["GET", `${R}/metadata/v1/instruments`, false],
  ["GET", `${R}/metadata/v1/instruments/{instrumentId}`, false],
  ["GET", `${U}/operator`, false],
  ["GET", `${U}/package/all`, false],
  ["GET", `${U}/openapi`, false],
  ["POST", `${U}/contract/instrument-configuration`, true],
  ["GET", `${U}/contract/instrument-configuration/all`, false],
  ["GET", `${U}/contract/instrument-configuration/paginated`, false],
  ["POST", `${U}/registry/mint/v0/offer`, true],
  ["POST", `${U}/registry/mint/v0/request`, true],
  ["POST", `${U}/registry/burn/v0/offer`, true],
  ["POST", `${U}/registry/burn/v0/request`, true],
  ...choices(`${U}/registry/mint/v0/offer/{mintOfferId}`, issuance, false),
  ...choices(`${U}/registry/mint/v0/request/{mintRequestId}`, issuance, false),
  ...choices(`${U}/registry/burn/v0/offer/{burnOfferId}`, issuance, false),
  ...choices(`${U}/registry/burn/v0/request/{burnRequestId}`, issuance, false),
  ["POST", `${U}/registry/burn-mint-instruction/v0/burn-mint-factory`, true],
  ["POST", `${U}/registry/transfer/v0/proof`, true],
  ["GET", "/livez", false],
  ["GET", "/readyz", false],
];

const camelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
/** As the specification writes it: variables in braces, in their JSON spelling. */
function toDocumented({ httpMethod, path, hasBody }: Binding): Route {
  const names = path.variables.map(({ fieldPath }) => fieldPath.join("."));
  const written = path.route.replaceAll(/:p(\d+)/g, (_, index: string) => `{${camelCase(names[Number(index)] ?? "")}}`);
  return [httpMethod, written, hasBody];
}
const sorted = (routes: readonly Route[]) => routes.toSorted(([, left], [, right]) => (left < right ? -1 : 1));

test("the documented endpoints are exactly the routes of the public port", () => {
  expect(sorted(rpcs.flatMap(bindingsOf).map(toDocumented))).toEqual(sorted(documented));
});

type Rule = MessageInitShape<typeof HttpRuleSchema>;

/** Creates an rpc with a rule, or without one. */
function createMethod(rule: Rule | undefined): DescMethod {
  const options = create(MethodOptionsSchema);
  if (rule !== undefined) setExtension(options, http, create(HttpRuleSchema, rule));
  const call = { name: "Call", inputType: ".test.Message", outputType: ".test.Message", options };
  const file = create(FileDescriptorProtoSchema, {
    name: "test.proto",
    package: "test",
    syntax: "proto3",
    messageType: [{ name: "Message" }],
    service: [{ name: "Service", method: [call] }],
  });
  const method = createFileRegistry(file, () => undefined).getService("test.Service")?.methods[0];
  if (method === undefined) throw new Error("the descriptor has no method");
  return method;
}

const post = (value: string) => ({ pattern: { case: "post", value } }) as const;

describe("a rule", () => {
  test("of a method is served by it, and without a body by default", () => {
    for (const name of ["get", "put", "post", "delete", "patch"] as const) {
      const path = { route: "/a/:p0", variables: [{ fieldPath: ["v"], parts: [{ parameter: "p0" }] }] };
      const bindings = bindingsOf(createMethod({ pattern: { case: name, value: "/a/{v}" } }));
      expect(bindings).toEqual([{ httpMethod: name.toUpperCase(), path, hasBody: false }]);
    }
  });

  test("with additional bindings is served at each of them; one that is missing has no route", () => {
    const rule: Rule = {
      pattern: { case: "post", value: "/a" },
      body: "*",
      additionalBindings: [
        { pattern: { case: "get", value: "/b" } },
        { pattern: { case: "put", value: "/c" }, body: "*" },
      ],
    };
    expect(bindingsOf(createMethod(rule))).toEqual([
      { httpMethod: "POST", path: { route: "/a", variables: [] }, hasBody: true },
      { httpMethod: "GET", path: { route: "/b", variables: [] }, hasBody: false },
      { httpMethod: "PUT", path: { route: "/c", variables: [] }, hasBody: true },
    ]);
    expect(bindingsOf(createMethod(undefined))).toEqual([]);
  });

  test.each<[string, Rule, string]>([
    [
      "a custom method",
      { pattern: { case: "custom", value: { kind: "HEAD", path: "/a" } } },
      "test.Service/Call: its google.api.http rule must name get, put, post, delete or patch",
    ],
    ["a body of one field", { ...post("/a"), body: "x" }, 'test.Service/Call: body must be "*" or absent, and is "x"'],
    [
      "such a body in an additional binding",
      { ...post("/a"), additionalBindings: [{ ...post("/b"), body: "x" }] },
      'test.Service/Call: body must be "*" or absent, and is "x"',
    ],
    ["an invalid template", post("a"), 'path template a: expected "/"'],
  ])("with %s is rejected", (_what, rule, reason) => {
    expect(() => bindingsOf(createMethod(rule))).toThrow(reason);
  });
});

/** The route, and per variable its field and its parts, in a short form. */
function parsed(template: string): string {
  const { route, variables } = parsePathTemplate(template);
  const parts = variables.map(({ fieldPath, parts: all }) => {
    const text = all.map((part) => ("literal" in part ? part.literal : `:${part.parameter}`)).join("/");
    return `${fieldPath.join(".")}=${text}`;
  });
  return [route, ...parts].join(" ");
}

test.each([
  ["/{v}", "/:p0 v=:p0"],
  ["/{a.b_c.d}", "/:p0 a.b_c.d=:p0"],
  ["/{v=*}", "/:p0 v=:p0"],
  ["/{v=shelves}", "/shelves v=shelves"],
  ["/{v=shelves/*}", "/shelves/:p0 v=shelves/:p0"],
  ["/{v=*/x/*}", "/:p0/x/:p1 v=:p0/x/:p1"],
  ["/{v=shelves/**}", "/shelves/* v=shelves/:*"],
  ["/{a}/x/{b}", "/:p0/x/:p1 a=:p0 b=:p1"],
  ["/*/{v}", "/:p0/:p1 v=:p1"],
  ["/{a}/{b=**}", "/:p0/* a=:p0 b=:*"],
  ["/a.b_c~d/%20", "/a.b_c~d/%20"],
  ["/*/**", "/:p0/*"],
  // The router escapes a colon by doubling it.
  ["/a/b:verb", "/a/b::verb"],
])("the template %s is the route %s", (template, expected) => expect(parsed(template)).toBe(expected));

test.each([
  ["", 'expected "/"', 1],
  ["/", "expected a segment", 2],
  ["/a//b", "expected a segment", 4],
  ["/a=b", "expected the end", 3],
  ["/{v}a", "expected the end", 5],
  ["/{}", "expected a field name", 3],
  ["/{1v}", "expected a field name", 3],
  ["/{a.}", "expected a field name", 5],
  ["/{a-b}", 'expected "}"', 4],
  ["/{a=b", 'expected "}"', 6],
  ["/{a=}", "expected a segment", 5],
  ["/{a={b}}", "expected a segment", 5],
  ["/a:", "expected a verb", 4],
  ["/a:b/c", "expected the end", 5],
  ["/{v}:verb", "a verb after a variable is not supported", 6],
  ["/*:verb", "a verb after a variable is not supported", 4],
  ["/**/a", "** is supported at the end only", 2],
  ["/**:verb", "a verb after a variable is not supported", 5],
  ["/{v=**/b}", "** is supported at the end only", 5],
  ["/{v=**}/{w}", "** is supported at the end only", 5],
])("the template %s is rejected: %s", (template, reason, character) => {
  const place = `at "${template.slice(character - 1)}" (character ${character})`;
  expect(() => parsePathTemplate(template)).toThrow(new Error(`path template ${template}: ${reason} ${place}`));
});

test.each([
  ["/v1/shelves/{shelf}", "/v1/shelves/7", { shelf: "7" }],
  ["/v1/shelves/{shelf}", "/v1/boxes/7", undefined],
  ["/v1/{party}/x", "/v1/admin::1220ab/x", { party: "admin::1220ab" }],
  ["/v1/{party}/x", "/v1/admin%3A%3A1220ab/x", { party: "admin::1220ab" }],
  ["/v1/{party}/x", "/v1/a%2Fb/x", { party: "a/b" }],
  ["/v1/{name=shelves/*}", "/v1/shelves/7", { name: "shelves/7" }],
  ["/v1/{name=*/x}/{other.name}", "/v1/7/x/8", { name: "7/x", "other.name": "8" }],
  ["/v1/{path=files/**}", "/v1/files/a/b/c", { path: "files/a/b/c" }],
  ["/v1/shelves:list", "/v1/shelves:list", {}],
  ["/v1/{shelf}/books:list", "/v1/7/books:list", { shelf: "7" }],
])("the router finds %s at %s", async (template, path, values) => {
  const { route, variables } = parsePathTemplate(template);
  const server = fastify();
  server.get(route, async ({ params }) =>
    Object.fromEntries(
      variables.map((variable) => [variable.fieldPath.join("."), valueOf(variable, params as Record<string, string>)]),
    ),
  );
  const response = await server.inject(path);
  expect(response.statusCode === 200 ? response.json() : undefined).toEqual(values);
});
