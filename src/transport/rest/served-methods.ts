import type { onRouteHookHandler } from "fastify";
import findMyWay from "find-my-way";
import { ROUTER_OPTIONS } from "./router-options.js";

/** A path that is served, by some methods. */
export interface ServedPath {
  /** In the syntax of the router. */
  readonly route: string;
  readonly methods: Set<string>;
  /** Whether the path is the one of an rpc, whose errors have the form of Connect. */
  readonly isRpc: boolean;
}

/** The router that Fastify uses looks routes up by method and path. This one finds the methods of a path. */
export class ServedMethods {
  readonly #router = findMyWay(ROUTER_OPTIONS);
  readonly #byRoute = new Map<string, ServedPath>();

  /** Adds a route. A hook of type onRoute, for the plugins whose paths count. */
  readonly add: onRouteHookHandler = ({ url, method }) => this.#add(url, [method].flat(), false);

  /** Adds an rpc. Its routes take every method that Fastify knows, to refuse most of them. */
  addRpc(path: string, methods: readonly string[]): void {
    this.#add(path, methods, true);
  }

  #add(url: string, methods: readonly string[], isRpc: boolean): void {
    // The router would take `/docs` and `/docs/` for duplicates.
    const route = url.length > 1 ? url.replace(/\/$/, "") : url;
    let path = this.#byRoute.get(route);
    if (path === undefined) {
      path = { route, methods: new Set(), isRpc };
      this.#byRoute.set(route, path);
      this.#router.on("GET", route, () => undefined, path);
    }
    for (const method of methods) path.methods.add(method);
  }

  /** The path of a URL; undefined if nothing is served there. */
  find(url: string): ServedPath | undefined {
    return this.#router.find("GET", url)?.store as ServedPath | undefined;
  }
}
