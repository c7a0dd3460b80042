import { expect, it } from "vitest";
import { watch } from "../../cli/commands/status.ts";

const drawing = (isWatched: boolean) => {
  const drawn: string[] = [];
  const terminal = {
    out: (text: string) => void drawn.push(text),
    isWatched,
    style: (_: unknown, text: string) => text,
  };
  return { drawn, terminal };
};
const times = (count: number) => {
  let left = count;
  return async () => left-- > 0;
};

it("redraws in place on a terminal", async () => {
  const { drawn, terminal } = drawing(true);
  let turn = 0;
  await watch(async () => `picture ${++turn}`, 1, terminal, times(2));
  expect(drawn).toEqual([1, 2, 3].map((n) => `\u001b[H\u001b[2Jpicture ${n}`));
});

it("prints one below the other into a file", async () => {
  const { drawn, terminal } = drawing(false);
  await watch(async () => "picture", 1, terminal, times(1));
  expect(drawn).toEqual(["picture\n", "picture\n"]);
});

it("continues after an error, and shows it with the last known state", async () => {
  const { drawn, terminal } = drawing(false);
  let turn = 0;
  const picture = async () => {
    turn += 1;
    if (turn === 2) throw new Error("\u001b[31mthrott\nled");
    return `picture ${turn}`;
  };
  await watch(picture, 1, terminal, times(2));
  expect(drawn[1]).toBe("picture 1\n\nCould not ask: thrott led. Trying again.\n");
  expect(drawn[2]).toBe("picture 3\n");
});

it("fails when the first read fails", async () => {
  const { terminal } = drawing(false);
  await expect(watch(() => Promise.reject(new Error("no")), 1, terminal, times(1))).rejects.toThrow("no");
});
