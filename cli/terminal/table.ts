import { stripVTControlCharacters } from "node:util";

const width = (text: string): number => stripVTControlCharacters(text).length;

/** Rows as columns that line up; the last column has any length. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, width(cell));
    });
  return rows.map((row) =>
    row
      .map((cell, i) => cell + " ".repeat(Math.max(0, (widths[i] ?? 0) - width(cell))))
      .join("  ")
      .trimEnd(),
  );
}
