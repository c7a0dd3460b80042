import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { mistakes } from "./planted.ts";

it.each(mistakes)("the mistake can be planted: $what", ({ file, text, instead }) => {
  expect(readFileSync(file, "utf8").split(text)).toHaveLength(2);
  expect(instead).not.toBe(text);
});
