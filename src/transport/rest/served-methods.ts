import type { onRouteHookHandler } from "fastify";
import findMyWay from "find-my-way";
import { ROUTER_OPTIONS } from "./router-options.js";

/** The router that Fastify uses looks routes up by method and path. This one finds the methods of a path. */
export class ServedMethods {
  readonly #router = findMyWay(ROUTER_OPTIONS);
  readonly #byRoute = new Map<string, Set<string>>();

  /** Adds a route. A hook of type onRoute, for the plugins whose paths count. */
  readonly add: onRouteHookHandler = ({ url, method }) => {
    // The router would take `/docs` and `/docs/` for duplicates.
    const route = url.length > 1 ? url.replace(/\/$/, "") : url;
    let methods = this.#byRoute.get(route);
    if (methods === undefined) {
      methods = new Set();
      this.#byRoute.set(route, methods);
      this.#router.on("GET", route, () => undefined, methods);
    }
    for (const one of [method].flat()) methods.add(one);
  };

  /** The methods of the path of a URL, in alphabetical order. Empty if nothing is served there. */
  of(url: string): readonly string[] {
    const methods = this.#router.find("GET", url)?.store as ReadonlySet<string> | undefined;
    return [...(methods ?? [])].toSorted();
  }
}
