import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileText, textIn } from "../../cli/file-text.ts";
import { newFolder } from "../support/new-folder.ts";

const text = '{"message": "größer als 😀"}\r\n'.repeat(10_000);
const le = (mark: string) => Buffer.from(mark + text, "utf16le");
const mark = "\uFEFF";

it.each([
  ["UTF-8", Buffer.from(text)],
  ["UTF-8 with a byte order mark", Buffer.from(mark + text)],
  ["UTF-16, as Windows PowerShell redirects output", le(mark)],
  ["UTF-16 without a mark", le("")],
  ["UTF-16, big-endian", le(mark).swap16()],
  ["UTF-16, big-endian, without a mark", le("").swap16()],
])("a file may be %s, and is read at once or piece by piece", async (_, bytes) => {
  expect(fileText(bytes)).toBe(text);
  const file = join(newFolder(), "file");
  writeFileSync(file, bytes);
  const pieces: string[] = [];
  for await (const piece of textIn(file)) pieces.push(piece);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join("")).toBe(text);
});

it.each([[[]], [[0x7b]], [[0, 0]]])("of a file of the bytes %j, nothing is guessed", (bytes) => {
  expect(fileText(Buffer.from(bytes))).toBe(Buffer.from(bytes).toString());
});
