import type { onRouteHookHandler } from "fastify";
import findMyWay from "find-my-way";
import { ROUTER_OPTIONS } from "./router-options.js";

/** A path that is served, by some methods. */
export interface ServedPath {
  /** In the syntax of the router. */
  readonly route: string;
  readonly methods: Set<string>;
}

/** The router that Fastify uses looks routes up by method and path. This one finds the methods of a path. */
export class ServedMethods {
  readonly #router = findMyWay(ROUTER_OPTIONS);
  readonly #byRoute = new Map<string, ServedPath>();

  /** Adds a route. A hook of type onRoute, for the plugins whose paths count. */
  readonly add: onRouteHookHandler = ({ url, method }) => {
    // The router would take `/docs` and `/docs/` for duplicates.
    const route = url.length > 1 ? url.replace(/\/$/, "") : url;
    let path = this.#byRoute.get(route);
    if (path === undefined) {
      path = { route, methods: new Set() };
      this.#byRoute.set(route, path);
      this.#router.on("GET", route, () => undefined, path);
    }
    for (const one of [method].flat()) path.methods.add(one);
  };

  /** The path of a URL; undefined if nothing is served there. */
  find(url: string): ServedPath | undefined {
    return this.#router.find("GET", url)?.store as ServedPath | undefined;
  }
}
