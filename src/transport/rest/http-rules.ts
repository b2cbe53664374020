import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.js";
import type { HttpRule } from "../../../gen/google/api/http_pb.js";
import { parsePathTemplate, type PathTemplate } from "./path-template.js";

export interface Binding {
  readonly httpMethod: "GET" | "PUT" | "POST" | "DELETE" | "PATCH";
  readonly path: PathTemplate;
  /** Whether fields that the path does not name are read from the body, rather than from the query. */
  readonly hasBody: boolean;
}

/** The bindings of an rpc; empty without google.api.http. Throws for a custom method or a body that is one field. */
export function bindingsOf(method: DescMethod): Binding[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map((one) => binding(one, `${method.parent.typeName}/${method.name}`));
}

const REGISTRAR_PREFIX = /^\/api\/token-standard\/v0\/registrars\/:p0(?=\/registry\/)/;

/**
 * The bindings of an rpc that a service has: with a root registrar also the path of each token-standard operation without
 * its prefix, `/registry/…`, where the registry of a single token is expected.
 */
export function servedBindings(method: DescMethod, rootRegistrar: string | undefined): Binding[] {
  const bindings = bindingsOf(method);
  if (rootRegistrar === undefined) return bindings;
  const rooted = bindings
    .filter(({ path }) => REGISTRAR_PREFIX.test(path.route))
    .map(({ httpMethod, hasBody, path: { route, variables } }): Binding => {
      // The first variable is the registrar.
      const [registrar, ...others] = variables;
      const fixed = { fieldPath: registrar?.fieldPath ?? [], parts: [{ literal: rootRegistrar }] };
      return {
        httpMethod,
        hasBody,
        path: { route: route.replace(REGISTRAR_PREFIX, ""), variables: [fixed, ...others] },
      };
    });
  return [...bindings, ...rooted];
}

function binding({ pattern, body }: HttpRule, rpc: string): Binding {
  if (pattern.case === undefined || pattern.case === "custom") {
    throw new Error(`${rpc}: its google.api.http rule must name get, put, post, delete or patch`);
  }
  if (body !== "" && body !== "*") throw new Error(`${rpc}: body must be "*" or absent, and is "${body}"`);
  return {
    httpMethod: methods[pattern.case],
    path: parsePathTemplate(pattern.value),
    hasBody: body === "*",
  };
}

const methods = { get: "GET", put: "PUT", post: "POST", delete: "DELETE", patch: "PATCH" } as const;
