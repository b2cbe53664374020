/** Parses the metrics and labels that a PromQL expression uses: enough of the language for the dashboard and the alerts. */

export interface Selector {
  readonly metric: string;
  /** Label matchers. */
  readonly matchers: readonly { readonly label: string; readonly value: string }[];
}

export interface Expression {
  readonly selectors: readonly Selector[];
  /** Labels in `by` and `without`. */
  readonly grouped: readonly string[];
}

const words = new Set(["by", "without", "and", "or", "unless", "bool", "offset"]);
const functions = new Set(
  "sum count min max avg topk rate increase changes absent histogram_quantile label_values".split(" "),
);

/** Throws for syntax that it does not know. */
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
    (all, name: string, suffix: string | undefined) => {
      if (suffix === "(") {
        if (!functions.has(name)) throw new Error(`${name} is an unknown function: ${text}`);
        return "(";
      }
      if (words.has(name)) return suffix ?? "";
      selectors.push({ metric: name, matchers: matchersOf(suffix ?? "", all) });
      return "0";
    },
  );
  if (!/^[\s\d.()+\-*/<>=!,]*$/.test(rest)) throw new Error(`not understood: ${rest} in ${text}`);
  const depth = rest.split("").reduce((sum, one) => sum + (one === "(" ? 1 : one === ")" ? -1 : 0), 0);
  if (depth !== 0) throw new Error(`unbalanced brackets: ${text}`);
  return { selectors, grouped };
}

function matchersOf(braces: string, all: string): { label: string; value: string }[] {
  const found = [...braces.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)];
  const left = braces.replaceAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g, "");
  if (!/^[{},\s]*$/.test(left)) throw new Error(`not understood: ${all}`);
  return found.map(([, label = "", value = ""]) => ({ label, value }));
}
