import type { AnyDesc, DescField, DescMessage, DescService, FileRegistry } from "@bufbuild/protobuf";
import type { JsonObject } from "../../src/util/json.js";
import { restFields } from "../../src/transport/rest/rest.js";
import { typedForms } from "./choice-arguments.js";
import { readComment } from "./comments.js";
import { operationIds } from "./names.js";
import { notModified } from "./caching.js";
import { createRoute, isStream } from "./operations.js";
import { sharedHeaders } from "./request-id.js";
import { errorResponses, errorSchemas } from "./responses.js";
import { Schemas } from "./schemas.js";

/** The published documents that are followed, with their versions. */
const PUBLISHED = [
  "token metadata v1 (1.2.0)",
  "transfer instruction v1 (1.1.0)",
  "transfer instruction v2 (1.0.0)",
  "allocation instruction v1 (1.0.0)",
  "allocation instruction v2 (1.0.0)",
  "allocation v1 (1.1.0)",
  "allocation v2 (1.0.0)",
  "Utilities API (2.1.0)",
];

/** The descriptors must include comments. Throws if one is missing. */
export function openApiDocument(registry: FileRegistry, version: string): JsonObject {
  const own = [...registry].filter((desc) => desc.typeName.startsWith("offledger."));
  const services = own.filter(isPublicService).toSorted(byTypeName);
  const methods = services.flatMap((service) => service.methods);
  const requests = reachable(methods.flatMap(({ input }) => [input, ...typedForms(input)]));
  const responses = reachable(methods.filter((method) => !isStream(method)).map(({ output }) => output));
  const messages = own.filter(
    (desc): desc is DescMessage =>
      desc.kind === "message" && (requests.has(desc.typeName) || responses.has(desc.typeName)),
  );
  const schemas = new Schemas(messages, requests);
  const ids = operationIds(methods);

  const paths: Record<string, JsonObject> = {};
  for (const service of services) {
    for (const method of service.methods) {
      const { path, method: verb, operation } = createRoute(method, ids.get(method) ?? "", tagOf(service), schemas);
      paths[path] = { ...paths[path], [verb]: operation };
    }
  }
  return {
    openapi: "3.0.3",
    info: {
      title: "offledger",
      version,
      description:
        "The off-ledger service of a token registry on the Canton Network: factories, choice contexts and the " +
        "contracts to disclose. Every operation is also available by Connect, gRPC and gRPC-Web.\n\n" +
        `It follows the published documents ${PUBLISHED.join(", ")}. An answer with a factory or a choice context is for ` +
        "one exercise of one choice: ask again for the next. Debug fields may differ from the contract that is disclosed; " +
        "exclude them, or trust them only as far as the service.",
    },
    servers: [{ url: "/" }],
    security: [],
    tags: services.map((service) => ({ name: tagOf(service), description: readComment(service).text })),
    paths: Object.fromEntries(Object.entries(paths).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      headers: sharedHeaders,
      responses: { "304": notModified, ...errorResponses },
      schemas: { ...schemas.all, ...errorSchemas },
    },
  };
}

/** Served on the operator's port only, and so not documented to callers. */
const operatorPackages: ReadonlySet<string> = new Set(["offledger.console.v1", "offledger.explain.v1"]);

const isPublicService = (desc: AnyDesc): desc is DescService =>
  desc.kind === "service" && !operatorPackages.has(desc.file.proto.package);

/** `offledger.transfer_instruction.v1` is "transfer instruction v1". */
function tagOf({ file }: DescService): string {
  return file.proto.package.replace(/^offledger\./, "").replaceAll(/[._]/g, " ");
}

/** The type names of the messages and, recursively, of the messages of their fields on REST. */
function reachable(messages: readonly DescMessage[], found = new Set<string>()): Set<string> {
  for (const message of messages) {
    if (found.has(message.typeName)) continue;
    found.add(message.typeName);
    reachable(restFields(message).flatMap(messageOf), found);
  }
  return found;
}

function messageOf(field: DescField): DescMessage[] {
  return field.fieldKind !== "enum" && field.message !== undefined ? [field.message] : [];
}

const byTypeName = (a: DescService, b: DescService): number => (a.typeName < b.typeName ? -1 : 1);
