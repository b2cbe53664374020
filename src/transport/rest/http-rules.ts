import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.js";
import type { HttpRule } from "../../../gen/google/api/http_pb.js";
import { parsePathTemplate, type PathTemplate } from "./path-template.js";

/** One HTTP method and path under which an rpc is served. */
export interface Binding {
  readonly httpMethod: "GET" | "PUT" | "POST" | "DELETE" | "PATCH";
  readonly path: PathTemplate;
  /** Whether the fields that the path does not name are read from the body; else the body is not looked at. */
  readonly hasBody: boolean;
}

/**
 * The bindings of an rpc, from its google.api.http option. Empty where it has
 * none. Throws where a rule asks for what is not served: a custom method, or a
 * body that is one field.
 */
export function bindingsOf(method: DescMethod): Binding[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map((one) => binding(one, `${method.parent.typeName}/${method.name}`));
}

function binding({ pattern, body }: HttpRule, rpc: string): Binding {
  if (pattern.case === undefined || pattern.case === "custom") {
    throw new Error(`${rpc}: its google.api.http rule has to name get, put, post, delete or patch`);
  }
  if (body !== "" && body !== "*") throw new Error(`${rpc}: body has to be "*" or absent, and is "${body}"`);
  return {
    httpMethod: methods[pattern.case],
    path: parsePathTemplate(pattern.value),
    hasBody: body === "*",
  };
}

const methods = { get: "GET", put: "PUT", post: "POST", delete: "DELETE", patch: "PATCH" } as const;
