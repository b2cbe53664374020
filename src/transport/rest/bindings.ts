/** The bindings of google.api.http: the routes of Fastify, explanations and the OpenAPI document are made from them. */
import { type DescField, type DescMethod, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.js";

/** Where REST serves an rpc. */
export interface Binding {
  readonly httpMethod: "GET" | "POST";
  /** The path in the syntax of Fastify. Its parameters have the proto names of fields: `/a/:instrument_id`. */
  readonly route: string;
  /** The fields that the path names. They are texts. */
  readonly inPath: readonly DescField[];
  /** Values of fields in the path for which the route has no parameter, by proto name. */
  readonly fixed: Readonly<Record<string, () => string>>;
  /** Whether fields that the path does not name are read from the body, rather than from the query. */
  readonly hasBody: boolean;
}

const HTTP_METHODS = { get: "GET", post: "POST" } as const;
/** Segments that are literals or whole fields. Nothing here needs more of path templates. */
const PATH = /^(?:\/(?:[\w.-]+|\{\w+\}))+$/;
const VARIABLE = /\{(\w+)\}/g;

/** Undefined without google.api.http. Throws for a rule of another form than the proto files have. */
export function bindingOf(method: DescMethod): Binding | undefined {
  if (!hasOption(method, http)) return undefined;
  const { pattern, body, additionalBindings } = getOption(method, http);
  const fail = (problem: string): never => {
    throw new Error(`${method.parent.typeName}/${method.name}: its google.api.http rule must ${problem}`);
  };
  if (additionalBindings.length > 0) return fail("have one binding");
  if (pattern.case !== "get" && pattern.case !== "post") return fail("be of get or post");
  if (body !== "" && body !== "*") return fail(`have the body "*" or none, not "${body}"`);
  const { value: path } = pattern;
  if (!PATH.test(path)) return fail(`have a path of literals and {fields}, not ${path}`);
  const inPath = Array.from(path.matchAll(VARIABLE), ([, name]) => {
    const field = method.input.fields.find((one) => one.name === name);
    const isText = field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING;
    return field !== undefined && isText ? field : fail(`name texts of ${method.input.typeName}, which ${name} is not`);
  });
  const route = path.replaceAll(VARIABLE, ":$1");
  return { httpMethod: HTTP_METHODS[pattern.case], route, inPath, fixed: {}, hasBody: body === "*" };
}

const REGISTRAR = "registrar_party";
const REGISTRAR_PREFIX = `/api/token-standard/v0/registrars/:${REGISTRAR}`;

/**
 * The bindings that a service has. With a root registrar each token-standard operation is also served without its prefix,
 * at `/registry/…`, where clients expect the registry of a single token.
 */
export function servedBindings(method: DescMethod, rootRegistrar: (() => string) | undefined): readonly Binding[] {
  const binding = bindingOf(method);
  if (binding === undefined) return [];
  if (rootRegistrar === undefined || !binding.route.startsWith(`${REGISTRAR_PREFIX}/registry/`)) return [binding];
  const route = binding.route.slice(REGISTRAR_PREFIX.length);
  return [binding, { ...binding, route, fixed: { [REGISTRAR]: rootRegistrar } }];
}
