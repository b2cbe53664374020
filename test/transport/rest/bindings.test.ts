/** The routes of REST, from the http rules of the proto files. test/openapi compares them with the published ones. */
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
import { bindingOf, servedBindings } from "../../../src/transport/rest/bindings.js";
import { rpcs } from "../../fixtures/services.js";

test("with a root registrar the token standard, and nothing else, is served at the root too", () => {
  for (const method of rpcs) {
    const [binding, ...atRoot] = servedBindings(method, () => "acme::1220");
    expect(servedBindings(method, undefined)).toEqual([binding]);
    const [, route] =
      /^\/api\/token-standard\/v0\/registrars\/:registrar_party(\/registry\/.*)$/.exec(binding?.route ?? "") ?? [];
    expect(atRoot.map((one) => [one.route, one.fixed["registrar_party"]?.()])).toEqual(
      route === undefined ? [] : [[route, "acme::1220"]],
    );
  }
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
