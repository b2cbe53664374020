/** Finds the operation of a REST request by its method and path, as the router of the public port does. */
import type { JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { type Binding, servedBindings } from "../rest/http-rules.js";
import type { Query } from "../rest/query.js";
import { requestReader } from "../rest/rest-request.js";
import type { Operation } from "../operations.js";

/** Decodes the request of a path that was found. Throws ConnectError. */
export interface RestTarget {
  readonly operation: Operation;
  readonly decode: (body: JsonObject) => Message;
}

interface Route {
  readonly operation: Operation;
  readonly binding: Binding;
  readonly pattern: RegExp;
  readonly read: (parameters: Record<string, string | undefined>, body: JsonValue, query: Query) => Message;
}

export type FindRestTarget = (httpMethod: string, target: string) => RestTarget | undefined;

export function restTargets(operations: readonly Operation[], rootRegistrar?: string): FindRestTarget {
  const routes = operations.flatMap((operation) =>
    servedBindings(operation.method, rootRegistrar).map((binding): Route => ({
      operation,
      binding,
      pattern: patternOf(binding.path.route),
      read: requestReader(operation.method.input, binding),
    })),
  );
  return (httpMethod, target) => {
    const [path = "", query = ""] = target.split("?", 2);
    const wanted = path.replaceAll(/\/+/g, "/").replace(/(?<=.)\/$/, "");
    for (const { operation, binding, pattern, read } of routes) {
      const match = binding.httpMethod === httpMethod ? pattern.exec(wanted) : null;
      const parameters = match === null ? undefined : decodeAll(match.groups ?? {});
      if (parameters !== undefined)
        return { operation, decode: (body) => read(parameters, body, Object.fromEntries(new URLSearchParams(query))) };
    }
    return undefined;
  };
}

/** The path in the router's syntax (`:p0`, `*` at the end, `::` for a colon) as a regular expression. */
function patternOf(route: string): RegExp {
  const source = route.split("/").map((segment) => {
    if (segment === "*") return "(?<rest>.*)";
    if (/^:[^:]/.test(segment)) return `(?<${segment.slice(1)}>[^/]+)`;
    return segment.replaceAll("::", ":").replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${source.join("/")}$`);
}

/** Undefined for an escape that is malformed. */
function decodeAll(groups: Record<string, string>): Record<string, string> | undefined {
  try {
    const decoded = Object.entries(groups).map(([name, value]) => [
      name === "rest" ? "*" : name,
      decodeURIComponent(value),
    ]);
    return Object.fromEntries(decoded) as Record<string, string>;
  } catch {
    return undefined;
  }
}
