/** What an expression of PromQL names: enough of the language to hold dashboards and alerts against what is served. */

export interface Selector {
  readonly metric: string;
  /** The labels that it matches by, with what they are matched with. */
  readonly matchers: readonly { readonly label: string; readonly value: string }[];
}

export interface Expression {
  readonly selectors: readonly Selector[];
  /** The labels that it groups by. */
  readonly grouped: readonly string[];
}

const words = new Set(["by", "without", "and", "or", "unless", "bool", "offset"]);
const functions = new Set(
  "sum count min max avg rate increase changes absent histogram_quantile label_values".split(" "),
);

/** Throws where there is what it does not know. */
export function read(text: string): Expression {
  const grouped: string[] = [];
  const selectors: Selector[] = [];
  const inner = text
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(/\b(?:by|without)\s*\(([^)]*)\)/g, (_all, labels: string) => {
      grouped.push(...labels.split(",").map((label) => label.trim()));
      return " ";
    })
    // The second argument is a label.
    .replaceAll(/,\s*(\w+)\)$/g, (all, label: string) => {
      if (!text.startsWith("label_values(")) return all;
      grouped.push(label);
      return ")";
    });
  const rest = inner.replaceAll(
    /([a-zA-Z_:][\w:]*)\s*(\{[^}]*\}|\()?/g,
    (all, name: string, behind: string | undefined) => {
      if (behind === "(") {
        if (!functions.has(name)) throw new Error(`${name} is no function that is known: ${text}`);
        return "(";
      }
      if (words.has(name)) return behind ?? "";
      selectors.push({ metric: name, matchers: matchersOf(behind ?? "", all) });
      return "0";
    },
  );
  if (!/^[\s\d.()+\-*/<>=!,]*$/.test(rest)) throw new Error(`not understood: ${rest} in ${text}`);
  const depth = rest.split("").reduce((sum, one) => sum + (one === "(" ? 1 : one === ")" ? -1 : 0), 0);
  if (depth !== 0) throw new Error(`brackets that do not fit: ${text}`);
  return { selectors, grouped };
}

function matchersOf(braces: string, all: string): { label: string; value: string }[] {
  const found = [...braces.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)];
  const left = braces.replaceAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g, "");
  if (!/^[{},\s]*$/.test(left)) throw new Error(`not understood: ${all}`);
  return found.map(([, label = "", value = ""]) => ({ label, value }));
}
