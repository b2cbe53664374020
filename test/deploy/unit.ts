/** Reads systemd units and environment files. */

/** The sections of a unit: all values of each name, in order. */
export function sections(text: string): Record<string, Record<string, string[]>> {
  const found: Record<string, Record<string, string[]>> = {};
  let section: Record<string, string[]> | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*(?:[#;]|$)/.test(line)) continue;
    const header = /^\[(\w+)\]$/.exec(line)?.[1];
    const [, name, value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (header !== undefined) section = found[header] ??= {};
    else if (name !== undefined && section !== undefined) (section[name] ??= []).push(value);
    else throw new Error(`line ${index + 1} is neither a section nor a value: ${line}`);
  }
  return found;
}

/** The variables of an EnvironmentFile=; with `all` also those that are commented out. */
export function variables(text: string, all = false): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const [, mark, name, value = ""] = /^(#?)([A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && (all || mark === "")) found[name] = value;
    else if (name === undefined && !/^(?:#.*)?$/.test(line)) throw new Error(`not a variable: ${line}`);
  }
  return found;
}
