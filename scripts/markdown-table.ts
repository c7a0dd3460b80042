/** A Markdown table that is also readable as text: all cells of a column have one width, and columns of figures are aligned right. */
export function markdownTable(
  head: readonly string[],
  lines: readonly (readonly string[])[],
  figures: readonly number[] = [],
): string {
  const isFigure = (column: number) => figures.includes(column);
  const widths = head.map((title, column) =>
    Math.max(3, ...[head, ...lines].map((cells) => (cells[column] ?? title).length)),
  );
  const rule = widths.map((width, column) =>
    isFigure(column) ? `${"-".repeat(width - 1)}:` : "-".repeat(width),
  );
  const cell = (text: string, width: number, column: number) =>
    isFigure(column) ? text.padStart(width) : text.padEnd(width);
  return [head, rule, ...lines]
    .map(
      (cells) => `| ${widths.map((width, column) => cell(cells[column] ?? "", width, column)).join(" | ")} |`,
    )
    .join("\n");
}
