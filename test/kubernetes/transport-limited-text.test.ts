import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { limitedText, TooLongError } from "../../lambda/kubernetes/transport.ts";

it("reads a body that is as long as the limit, and none that is longer", async () => {
  const body = () => Readable.from([Buffer.from("ab"), Buffer.from("cd")]);
  expect(await limitedText(body(), 4)).toBe("abcd");
  await expect(limitedText(body(), 3)).rejects.toThrow(new TooLongError("the body is longer than 3 bytes"));
});
