/** What the package @fastify/swagger-ui has. Its plugin is not used: it opens a file for each response. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { staticContent, type StaticContent } from "../../static/static-content.js";

/** What the generators read: the options of the plugin, and the paths that it adds. */
export interface SwaggerUiOptions {
  readonly prefix: string;
  /** Below the prefix: where the page looks for its files. */
  readonly staticPrefix: string;
  readonly theme: {
    readonly title: string;
    readonly favicon: readonly { filename: string; rel: string; sizes: string; type: string }[];
    readonly css: readonly { filename: string }[];
  };
  readonly logo: { readonly type: string; readonly content: string };
  readonly uiConfig: object;
  readonly initOAuth: object;
}

const require = createRequire(import.meta.url);

/** Makes the page for the path in a request, with or without a final slash. */
export const pageOf = require("@fastify/swagger-ui/lib/index-html.js") as (
  options: SwaggerUiOptions,
) => (path: string) => string;

/** Makes the script that starts the page. */
export const initializerOf = require("@fastify/swagger-ui/lib/swagger-initializer.js") as (
  options: SwaggerUiOptions,
) => string;

/** Other files are not served: the service makes its own page. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
};

let assets: ReadonlyMap<string, StaticContent> | undefined;

/** The files that the page loads, by name. All servers of a process share them. */
export const swaggerUiAssets = (): ReadonlyMap<string, StaticContent> => (assets ??= readAssets());

function readAssets(): ReadonlyMap<string, StaticContent> {
  const folder = join(dirname(require.resolve("@fastify/swagger-ui/package.json")), "static");
  const read = (name: string, type: string) => staticContent(readFileSync(join(folder, name)), type);
  return new Map(
    readdirSync(folder).flatMap((name) => {
      const type = CONTENT_TYPES[extname(name)];
      return type === undefined ? [] : [[name, read(name, type)] as const];
    }),
  );
}
