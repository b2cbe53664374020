import { fastify } from "fastify";
import { describe, expect, test } from "vitest";
import { parsePathTemplate, valueOf } from "../../../src/transport/rest/path-template.js";

const p0 = { parameter: "p0" };
const p1 = { parameter: "p1" };
const rest = { parameter: "*" };

describe("the variables of a template", () => {
  test.each([
    ["/{v}", "/:p0", [{ fieldPath: ["v"], parts: [p0] }]],
    ["/{a.b_c.d}", "/:p0", [{ fieldPath: ["a", "b_c", "d"], parts: [p0] }]],
    ["/{v=*}", "/:p0", [{ fieldPath: ["v"], parts: [p0] }]],
    ["/{v=shelves}", "/shelves", [{ fieldPath: ["v"], parts: [{ literal: "shelves" }] }]],
    ["/{v=shelves/*}", "/shelves/:p0", [{ fieldPath: ["v"], parts: [{ literal: "shelves" }, p0] }]],
    ["/{v=*/x/*}", "/:p0/x/:p1", [{ fieldPath: ["v"], parts: [p0, { literal: "x" }, p1] }]],
    ["/{v=shelves/**}", "/shelves/*", [{ fieldPath: ["v"], parts: [{ literal: "shelves" }, rest] }]],
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
    ["/a.b_c~d/%20", "/a.b_c~d/%20", []],
    ["/*/**", "/:p0/*", []],
    // The router escapes a colon by doubling it.
    ["/a/b:verb", "/a/b::verb", []],
  ])("%s is %s", (template, route, variables) => {
    expect(parsePathTemplate(template)).toEqual({ route, variables });
  });
});

describe("an invalid template is rejected with the position", () => {
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
  ])("%s", (template, reason, character) => {
    const place = `at "${template.slice(character - 1)}" (character ${character})`;
    expect(() => parsePathTemplate(template)).toThrow(new Error(`path template ${template}: ${reason} ${place}`));
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
    ["/v1/shelves/{shelf}", "/v1/boxes/7", undefined],
    ["/v1/{party}/x", "/v1/admin::1220ab/x", { party: "admin::1220ab" }],
    ["/v1/{party}/x", "/v1/admin%3A%3A1220ab/x", { party: "admin::1220ab" }],
    ["/v1/{party}/x", "/v1/a%2Fb/x", { party: "a/b" }],
    ["/v1/{name=shelves/*}", "/v1/shelves/7", { name: "shelves/7" }],
    ["/v1/{name=*/x}/{other.name}", "/v1/7/x/8", { name: "7/x", "other.name": "8" }],
    ["/v1/{path=files/**}", "/v1/files/a/b/c", { path: "files/a/b/c" }],
    ["/v1/shelves:list", "/v1/shelves:list", {}],
    ["/v1/{shelf}/books:list", "/v1/7/books:list", { shelf: "7" }],
  ])("%s at %s", async (template, path, values) => {
    expect(await matchPath(template, path)).toEqual(values);
  });
});
