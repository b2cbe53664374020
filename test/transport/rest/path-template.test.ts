import { fastify } from "fastify";
import { describe, expect, test } from "vitest";
import { parsePathTemplate, valueOf } from "../../../src/transport/rest/path-template.js";

const p0 = { parameter: "p0" };
const p1 = { parameter: "p1" };
const rest = { parameter: "*" };

describe("a template in the router's syntax", () => {
  test.each([
    ["/a", "/a"],
    ["/api/token-standard/v0", "/api/token-standard/v0"],
    ["/a.b_c~d/%20", "/a.b_c~d/%20"],
    ["/*", "/:p0"],
    ["/a/*/b/*", "/a/:p0/b/:p1"],
    ["/**", "/*"],
    ["/a/**", "/a/*"],
    ["/a/*/**", "/a/:p0/*"],
    // The router escapes a colon by doubling it.
    ["/a:verb", "/a::verb"],
    ["/a/b:verb", "/a/b::verb"],
    ["/{v}/a:verb", "/:p0/a::verb"],
  ])("%s is %s", (template, route) => {
    expect(parsePathTemplate(template).route).toBe(route);
  });
});

describe("the variables of a template", () => {
  test.each([
    ["/a", "/a", []],
    ["/{v}", "/:p0", [{ fieldPath: ["v"], parts: [p0] }]],
    ["/a/{v}/b", "/a/:p0/b", [{ fieldPath: ["v"], parts: [p0] }]],
    ["/{_v1}", "/:p0", [{ fieldPath: ["_v1"], parts: [p0] }]],
    ["/{a.b}", "/:p0", [{ fieldPath: ["a", "b"], parts: [p0] }]],
    ["/{a.b_c.d}", "/:p0", [{ fieldPath: ["a", "b_c", "d"], parts: [p0] }]],
    ["/{v=*}", "/:p0", [{ fieldPath: ["v"], parts: [p0] }]],
    ["/{v=shelves}", "/shelves", [{ fieldPath: ["v"], parts: [{ literal: "shelves" }] }]],
    ["/{v=shelves/*}", "/shelves/:p0", [{ fieldPath: ["v"], parts: [{ literal: "shelves" }, p0] }]],
    ["/{v=*/x}", "/:p0/x", [{ fieldPath: ["v"], parts: [p0, { literal: "x" }] }]],
    ["/{v=*/x/*}", "/:p0/x/:p1", [{ fieldPath: ["v"], parts: [p0, { literal: "x" }, p1] }]],
    ["/{v=**}", "/*", [{ fieldPath: ["v"], parts: [rest] }]],
    ["/{v=shelves/**}", "/shelves/*", [{ fieldPath: ["v"], parts: [{ literal: "shelves" }, rest] }]],
    ["/{a.b=shelves/*}", "/shelves/:p0", [{ fieldPath: ["a", "b"], parts: [{ literal: "shelves" }, p0] }]],
    [
      "/{a}/x/{b}",
      "/:p0/x/:p1",
      [
        { fieldPath: ["a"], parts: [p0] },
        { fieldPath: ["b"], parts: [p1] },
      ],
    ],
    ["/*/{v}", "/:p0/:p1", [{ fieldPath: ["v"], parts: [p1] }]],
    [
      "/{a}/{b=**}",
      "/:p0/*",
      [
        { fieldPath: ["a"], parts: [p0] },
        { fieldPath: ["b"], parts: [rest] },
      ],
    ],
  ])("%s is %s", (template, route, variables) => {
    expect(parsePathTemplate(template)).toEqual({ route, variables });
  });
});

describe("an invalid template is rejected with the position", () => {
  test.each([
    ["", 'expected "/"', 1],
    ["a", 'expected "/"', 1],
    ["{v}", 'expected "/"', 1],
    ["/", "expected a segment", 2],
    ["//a", "expected a segment", 2],
    ["/a/", "expected a segment", 4],
    ["/a//b", "expected a segment", 4],
    ["/:verb", "expected a segment", 2],
    ["/=a", "expected a segment", 2],
    ["/}", "expected a segment", 2],
    ["/a=b", "expected the end", 3],
    ["/a{v}", "expected the end", 3],
    ["/{v}a", "expected the end", 5],
    ["/a*", "expected the end", 3],
    ["/*a", "expected the end", 3],
    ["/a}", "expected the end", 3],
    ["/{}", "expected a field name", 3],
    ["/{", "expected a field name", 3],
    ["/{1v}", "expected a field name", 3],
    ["/{*}", "expected a field name", 3],
    ["/{a.}", "expected a field name", 5],
    ["/{a..b}", "expected a field name", 5],
    ["/{.a}", "expected a field name", 3],
    ["/{a", 'expected "}"', 4],
    ["/{a b}", 'expected "}"', 4],
    ["/{a-b}", 'expected "}"', 4],
    ["/{a=b", 'expected "}"', 6],
    ["/{a=}", "expected a segment", 5],
    ["/{a=b/}", "expected a segment", 7],
    ["/{a={b}}", "expected a segment", 5],
    ["/{a=b/{c}}", "expected a segment", 7],
    ["/a:", "expected a verb", 4],
    ["/a:/b", "expected a verb", 4],
    ["/a:b/c", "expected the end", 5],
    ["/a:b:c", "expected the end", 5],
    ["/a:*", "expected a verb", 4],
    ["/{v}:verb", "a verb after a variable is not supported", 6],
    ["/*:verb", "a verb after a variable is not supported", 4],
    ["/{v=a/*}:verb", "a verb after a variable is not supported", 10],
    ["/**/a", "** is supported at the end only", 2],
    ["/a/**/b", "** is supported at the end only", 4],
    ["/**/**", "** is supported at the end only", 2],
    ["/***", "expected the end", 4],
    ["/**:verb", "a verb after a variable is not supported", 5],
    ["/a/{v=**}/b", "** is supported at the end only", 7],
    ["/{v=**/b}", "** is supported at the end only", 5],
    ["/{v=**}/{w}", "** is supported at the end only", 5],
    ["/{v=**", 'expected "}"', 7],
  ])("%s", (template, reason, character) => {
    const place = `at "${template.slice(character - 1)}" (character ${character})`;
    expect(() => parsePathTemplate(template)).toThrow(new Error(`path template ${template}: ${reason} ${place}`));
  });
});

describe("the value of a variable", () => {
  test.each([
    ["one segment", [p0], { p0: "a" }, "a"],
    ["literals and segments, in order", [{ literal: "shelves" }, p1, { literal: "x" }], { p1: "1" }, "shelves/1/x"],
    ["the rest of a path", [{ literal: "files" }, rest], { "*": "a/b/c" }, "files/a/b/c"],
    ["a decoded value, unchanged", [p0], { p0: "a%2Fb::c" }, "a%2Fb::c"],
    ["empty, when the router matched nothing", [p0], {}, ""],
  ])("is %s", (_what, parts, parameters, value) => {
    expect(valueOf({ fieldPath: ["v"], parts }, parameters)).toBe(value);
  });
});

/** Routes a path with a real router. Returns the variables; undefined when it does not match. */
async function matchPath(template: string, path: string): Promise<unknown> {
  const { route, variables } = parsePathTemplate(template);
  const server = fastify();
  server.get(route, async ({ params }) => {
    const parameters = params as Record<string, string>;
    return Object.fromEntries(
      variables.map((variable) => [variable.fieldPath.join("."), valueOf(variable, parameters)]),
    );
  });
  const response = await server.inject(path);
  return response.statusCode === 200 ? response.json() : undefined;
}

describe("in the router", () => {
  test.each([
    ["/v1/shelves/{shelf}", "/v1/shelves/7", { shelf: "7" }],
    ["/v1/shelves/{shelf}", "/v1/shelves/7/books", undefined],
    ["/v1/shelves/{shelf}", "/v1/boxes/7", undefined],
    ["/v1/{party}/x", "/v1/admin::1220ab/x", { party: "admin::1220ab" }],
    ["/v1/{party}/x", "/v1/admin%3A%3A1220ab/x", { party: "admin::1220ab" }],
    ["/v1/{party}/x", "/v1/a%2Fb/x", { party: "a/b" }],
    ["/v1/{name=shelves/*}", "/v1/shelves/7", { name: "shelves/7" }],
    ["/v1/{name=shelves/*}", "/v1/boxes/7", undefined],
    ["/v1/{name=*/x}", "/v1/7/x", { name: "7/x" }],
    ["/v1/{name=*/x}/{other.name}", "/v1/7/x/8", { name: "7/x", "other.name": "8" }],
    ["/v1/{path=files/**}", "/v1/files/a/b/c", { path: "files/a/b/c" }],
    ["/v1/shelves:list", "/v1/shelves:list", {}],
    ["/v1/shelves:list", "/v1/shelves:clear", undefined],
    ["/v1/shelves:list", "/v1/shelves", undefined],
    ["/v1/{shelf}/books:list", "/v1/7/books:list", { shelf: "7" }],
  ])("%s at %s", async (template, path, values) => {
    expect(await matchPath(template, path)).toEqual(values);
  });
});
