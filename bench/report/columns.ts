/** Cells as lines of text, each column as wide as its longest cell. */
export function renderColumns(lines: readonly (readonly string[])[]): string {
  const columns = Math.max(...lines.map(({ length }) => length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const render = (line: readonly string[]): string =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return `${lines.map(render).join("\n")}\n`;
}
