/** The routes of REST: those of the specification, from the http rules of the proto files. */
import { create, createFileRegistry, type DescMethod, type MessageInitShape, setExtension } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { http } from "../../../gen/google/api/annotations_pb.js";
import { HttpRuleSchema } from "../../../gen/google/api/http_pb.js";
import { type Binding, bindingOf, servedBindings } from "../../../src/transport/rest/bindings.js";
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

/** As the specification writes it: variables in braces, in their JSON spelling. */
function toDocumented({ httpMethod, route, inPath, hasBody }: Binding): Route {
  const written = inPath.reduce((path, { name, jsonName }) => path.replace(`:${name}`, `{${jsonName}}`), route);
  return [httpMethod, written, hasBody];
}
const sorted = (routes: readonly Route[]) => routes.toSorted(([, left], [, right]) => (left < right ? -1 : 1));

test("the documented endpoints are exactly the routes of the public port", () => {
  const served = rpcs.flatMap((method) => servedBindings(method, undefined));
  expect(sorted(served.map(toDocumented))).toEqual(sorted(documented));
});

test("with a root registrar the token standard, and nothing else, is served at the root too", () => {
  const roots = rpcs.flatMap((method) => servedBindings(method, () => "acme::1220").slice(1));
  const standard = documented.filter(([, path]) => path.startsWith(R));
  const atRoot = standard.map(([method, path, hasBody]): Route => [method, path.replace(R, "/registry"), hasBody]);
  expect(sorted(roots.map(toDocumented))).toEqual(sorted(atRoot));
  for (const { fixed } of roots) expect(fixed["registrar_party"]?.()).toBe("acme::1220");
});

type Rule = MessageInitShape<typeof HttpRuleSchema>;

/** Creates an rpc with a rule, or without one. Its request has a text and a number. */
function createMethod(rule: Rule | undefined): DescMethod {
  const options = create(MethodOptionsSchema);
  if (rule !== undefined) setExtension(options, http, create(HttpRuleSchema, rule));
  const call = { name: "Call", inputType: ".test.Message", outputType: ".test.Message", options };
  const field = [
    { name: "some_text", number: 1, type: Type.STRING, label: Label.OPTIONAL },
    { name: "a_number", number: 2, type: Type.INT32, label: Label.OPTIONAL },
  ];
  const file = create(FileDescriptorProtoSchema, {
    name: "test.proto",
    package: "test",
    syntax: "proto3",
    messageType: [{ name: "Message", field }],
    service: [{ name: "Service", method: [call] }],
  });
  const method = createFileRegistry(file, () => undefined).getService("test.Service")?.methods[0];
  if (method === undefined) throw new Error("the descriptor has no method");
  return method;
}

const post = (value: string) => ({ pattern: { case: "post", value } }) as const;

describe("a rule", () => {
  test("is a route with a parameter for each field; without a body by default", () => {
    const { inPath = [], ...others } = bindingOf(createMethod(post("/a.b-c/{some_text}/x"))) ?? {};
    expect(others).toEqual({ httpMethod: "POST", route: "/a.b-c/:some_text/x", fixed: {}, hasBody: false });
    expect(inPath.map(({ localName }) => localName)).toEqual(["someText"]);
    expect(bindingOf(createMethod({ pattern: { case: "get", value: "/a" } }))?.httpMethod).toBe("GET");
    expect(bindingOf(createMethod({ ...post("/a"), body: "*" }))?.hasBody).toBe(true);
    expect(bindingOf(createMethod(undefined))).toBeUndefined();
  });

  test.each<[string, Rule, string]>([
    ["another method", { pattern: { case: "put", value: "/a" } }, "be of get or post"],
    ["a custom method", { pattern: { case: "custom", value: { kind: "HEAD", path: "/a" } } }, "be of get or post"],
    ["a second binding", { ...post("/a"), additionalBindings: [post("/b")] }, "have one binding"],
    ["a body of one field", { ...post("/a"), body: "x" }, 'have the body "*" or none, not "x"'],
    ["a number in its path", post("/{a_number}"), "name texts of test.Message, which a_number is not"],
    ["an unknown field in its path", post("/{nothing}"), "name texts of test.Message, which nothing is not"],
    ...["", "a", "/", "/a//b", "/a/", "/*", "/{some_text=*}", "/{a.b}", "/{some_text}a", "/a:verb", "/{some_text"].map(
      (path): [string, Rule, string] => [
        `the path ${path}`,
        post(path),
        `have a path of literals and {fields}, not ${path}`,
      ],
    ),
  ])("with %s is rejected", (_what, rule, reason) => {
    expect(() => bindingOf(createMethod(rule))).toThrow(
      new Error(`test.Service/Call: its google.api.http rule must ${reason}`),
    );
  });
});
