import { alreadyCaughtUp } from "../../../src/domain/ledger.js";
import { create, createFileRegistry, type DescMethod, type MessageInitShape, setExtension } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { http } from "../../../gen/google/api/annotations_pb.js";
import { HttpRuleSchema } from "../../../gen/google/api/http_pb.js";
import { QueryExecutor } from "../../../src/registry/executor.js";
import { utilityRegistry } from "../../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../../src/registry/utility/allocation.js";
import { services } from "../../../src/service/services.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import { type Binding, bindingsOf } from "../../../src/transport/rest/http-rules.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";

const R = "/api/token-standard/v0/registrars/{registrarParty}/registry";
const U = "/api/utilities/v0";

/** The eight endpoints of service.md. The last column names the body. */
const endpoints: readonly Documented[] = [
  ["POST", `${R}/allocation/v2/settlement-factory`, "GetSettlementFactoryRequest"],
  ["POST", `${R}/transfer-instruction/v1/transfer-factory`, "GetTransferFactoryRequest"],
  ["POST", `${R}/transfer-instruction/v2/{transferInstructionId}/choice-contexts/reject`, "ChoiceContextRequest"],
  ["POST", `${R}/allocations/v2/{allocationId}/choice-contexts/cancel`, "ChoiceContextRequest"],
  ["POST", `${R}/allocations/v1/{allocationId}/choice-contexts/withdraw`, "ChoiceContextRequest"],
  ["POST", `${U}/registry/burn/v0/request/{burnRequestId}/choice-contexts/accept`, "none"],
  ["POST", `${U}/registry/burn/v0/offer/{burnOfferId}/choice-contexts/cancel`, "none"],
  ["POST", `${U}/contract/instrument-configuration`, "InstrumentConfigurationRequest"],
];

const choices = (path: string, verbs: readonly string[], body: string) =>
  verbs.map((verb): Documented => ["POST", `${path}/choice-contexts/${verb}`, body]);
const issuance = ["accept", "reject", "cancel"];

/** The other endpoints of surface.md. */
const others: readonly Documented[] = [
  ["POST", `${R}/transfer-instruction/v2/transfer-factory`, "GetTransferFactoryRequest"],
  ...choices(
    `${R}/transfer-instruction/v1/{transferInstructionId}`,
    ["accept", "reject", "withdraw"],
    "ChoiceContextRequest",
  ),
  ...choices(`${R}/transfer-instruction/v2/{transferInstructionId}`, ["accept", "withdraw"], "ChoiceContextRequest"),
  ["POST", `${R}/allocation-instruction/v1/allocation-factory`, "GetAllocationFactoryRequest"],
  ["POST", `${R}/allocation-instruction/v2/allocation-factory`, "GetAllocationFactoryRequest"],
  ...choices(
    `${R}/allocation-instruction/v2/{allocationInstructionId}`,
    ["accept", "withdraw"],
    "ChoiceContextRequest",
  ),
  ...choices(`${R}/allocations/v1/{allocationId}`, ["execute-transfer", "cancel"], "ChoiceContextRequest"),
  ...choices(`${R}/allocations/v2/{allocationId}`, ["withdraw"], "ChoiceContextRequest"),
  ["GET", `${R}/metadata/v1/info`, "none"],
  ["GET", `${R}/metadata/v1/instruments`, "none"],
  ["GET", `${R}/metadata/v1/instruments/{instrumentId}`, "none"],
  ["GET", `${U}/operator`, "none"],
  ["GET", `${U}/package/all`, "none"],
  ["GET", `${U}/openapi`, "none"],
  ["GET", `${U}/contract/instrument-configuration/all`, "none"],
  ["GET", `${U}/contract/instrument-configuration/paginated`, "none"],
  ["POST", `${U}/registry/mint/v0/offer`, "OfferMintRequest"],
  ["POST", `${U}/registry/mint/v0/request`, "RequestMintRequest"],
  ["POST", `${U}/registry/burn/v0/offer`, "OfferBurnRequest"],
  ["POST", `${U}/registry/burn/v0/request`, "RequestBurnRequest"],
  ...choices(`${U}/registry/mint/v0/offer/{mintOfferId}`, issuance, "none"),
  ...choices(`${U}/registry/mint/v0/request/{mintRequestId}`, issuance, "none"),
  ...choices(`${U}/registry/burn/v0/offer/{burnOfferId}`, ["accept", "reject"], "none"),
  ...choices(`${U}/registry/burn/v0/request/{burnRequestId}`, ["reject", "cancel"], "none"),
  ["POST", `${U}/registry/burn-mint-instruction/v0/burn-mint-factory`, "GetBurnMintFactoryRequest"],
  ["POST", `${U}/registry/transfer/v0/proof`, "VerifyTransferProofRequest"],
  ["GET", "/livez", "none"],
  ["GET", "/readyz", "none"],
];

const documented = [...endpoints, ...others];

type Documented = readonly [method: "GET" | "POST", path: string, body: string];

interface Route {
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
}

const byPath = (a: Route, b: Route): number => (a.path < b.path ? -1 : 1);

const documentedRoutes = documented
  .map(([method, path, body]): Route => ({ method, path, hasBody: body !== "none" }))
  .toSorted(byPath);

/** Formats a binding as service.md does: variables in braces, in their JSON spelling. */
function toDocumented({ httpMethod, path, hasBody }: Binding): Route {
  const names = path.variables.map(({ fieldPath }) => fieldPath.join("."));
  const written = path.route.replaceAll(/:p(\d+)/g, (_, index: string) => `{${camelCase(names[Number(index)] ?? "")}}`);
  return { method: httpMethod, path: written, hasBody };
}

const camelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const always = { staleReason: () => undefined, catchUp: alreadyCaughtUp };
const served = services(
  new QueryExecutor(utilityRegistry({ settlementLimits: MIN_SETTLEMENT_LIMITS }), new MemoryStore(), always, Date.now),
  { overrides: new Map(), countsHoldings: false, openApi: {}, notReadyReason: () => undefined },
).flatMap(({ service }) => service.methods);

const filled = (path: string): string => path.replaceAll(/\{\w+\}/g, "nobody");

describe("the documented endpoints", () => {
  test("are exactly the routes of the served services", () => {
    expect(served.flatMap(bindingsOf).map(toDocumented).toSorted(byPath)).toEqual(documentedRoutes);
  });
});

describe("the running service", () => {
  let running: Running;
  beforeAll(async () => {
    running = await serveFile(undefined);
  });
  afterAll(() => running.close());

  const send = async (method: string, path: string) => {
    const response = await fetch(running.url + path, { method });
    return { status: response.status, body: await response.text() };
  };

  test.each(documented)("serves %s %s", async (method, path) => {
    const { status, body } = await send(method, filled(path));
    expect([200, 400, 404]).toContain(status);
    expect(body).not.toContain("nothing is served at");
  });

  test.each(documented)("serves nothing next to %s %s", async (verb, path) => {
    const here = filled(path);
    for (const method of [verb === "GET" ? "POST" : "GET", "PUT"]) {
      const allowed = verb === "GET" ? "GET or HEAD" : "POST";
      expect({ method, ...(await send(method, here)) }).toEqual({
        method,
        status: 405,
        body: expect.stringContaining(`must be ${allowed}, but is ${method}`) as string,
      });
    }
    for (const [method, other] of [
      [verb, `${here}/more/still`],
      // A path that ends in an id would match any other id.
      [verb, path.endsWith("}") ? `${here}/x/` : `${here}x`],
      [verb, `${here.replace("/v0/", "/v9/")}/v9`],
      [verb, here.toUpperCase()],
    ] as const) {
      expect({ method, other, ...(await send(method, other)) }).toEqual({
        method,
        other,
        status: 404,
        body: expect.stringContaining("nothing is served at") as string,
      });
    }
  });
});

type Rule = MessageInitShape<typeof HttpRuleSchema>;

/** Creates an rpc with a rule, or without one. */
function createMethod(rule: Rule | undefined): DescMethod {
  const options = create(MethodOptionsSchema);
  if (rule !== undefined) setExtension(options, http, create(HttpRuleSchema, rule));
  const file = create(FileDescriptorProtoSchema, {
    name: "test.proto",
    package: "test",
    syntax: "proto3",
    messageType: [{ name: "Message" }],
    service: [
      { name: "Service", method: [{ name: "Call", inputType: ".test.Message", outputType: ".test.Message", options }] },
    ],
  });
  const registry = createFileRegistry(file, () => undefined);
  const method = registry.getService("test.Service")?.methods[0];
  if (method === undefined) throw new Error("the descriptor has no method");
  return method;
}

describe("a rule", () => {
  test("of a method is served by it, and without a body by default", () => {
    for (const [name, httpMethod] of [
      ["get", "GET"],
      ["put", "PUT"],
      ["post", "POST"],
      ["delete", "DELETE"],
      ["patch", "PATCH"],
    ] as const)
      expect(bindingsOf(createMethod({ pattern: { case: name, value: "/a/{v}" } }))).toEqual([
        {
          httpMethod,
          path: { route: "/a/:p0", variables: [{ fieldPath: ["v"], parts: [{ parameter: "p0" }] }] },
          hasBody: false,
        },
      ]);
  });

  test("with additional bindings is served at each of them", () => {
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
  });

  test("that is missing has no route", () => {
    expect(bindingsOf(createMethod(undefined))).toEqual([]);
  });

  test.each<[string, Rule, string]>([
    [
      "a custom method",
      { pattern: { case: "custom", value: { kind: "HEAD", path: "/a" } } },
      "its google.api.http rule must name get, put, post, delete or patch",
    ],
    [
      "a body that is one field",
      { pattern: { case: "post", value: "/a" }, body: "field" },
      'body must be "*" or absent, and is "field"',
    ],
    [
      "such a body in an additional binding",
      {
        pattern: { case: "post", value: "/a" },
        additionalBindings: [{ pattern: { case: "post", value: "/b" }, body: "x" }],
      },
      'body must be "*" or absent, and is "x"',
    ],
  ])("with %s is rejected by the name of its rpc", (_what, rule, reason) => {
    expect(() => bindingsOf(createMethod(rule))).toThrow(new Error(`test.Service/Call: ${reason}`));
  });

  test("with an invalid path template is rejected", () => {
    expect(() => bindingsOf(createMethod({ pattern: { case: "get", value: "a" } }))).toThrow(
      /^path template a: expected "\/"/,
    );
  });
});
