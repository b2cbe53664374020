/** Routes are in the fragment of the URL, which the browser does not send: `#/party?id=alice%3A%3A1220…`. */

export interface Route {
  readonly name: string;
  readonly query: URLSearchParams;
}

export const DEFAULT_VIEW = "overview";

export function parseRoute(hash: string): Route {
  const [, name = "", query = ""] = /^#\/([a-z]*)(?:\?(.*))?$/s.exec(hash) ?? [];
  return { name: name === "" ? DEFAULT_VIEW : name, query: new URLSearchParams(query) };
}

/** The link to a view. Empty parameters are left out. */
export function link(name: string, parameters: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) if (value !== undefined && value !== "") query.set(key, value);
  const text = query.toString();
  return `#/${name}${text === "" ? "" : `?${text}`}`;
}

/** Goes to a view; renders it again if it is the present one. */
export function navigate(to: string): void {
  if (location.hash === to) window.dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = to;
}

/** Changes the URL so that it can be copied, without rendering the view again. */
export const replaceRoute = (to: string): void => history.replaceState(null, "", to);
