import { expect, it } from "vitest";
import { watch } from "../../cli/commands/status.ts";

const drawing = (isWatched: boolean) => {
  const drawn: string[] = [];
  const reported: string[] = [];
  const terminal = {
    out: (text: string) => void drawn.push(text),
    notify: (text: string) => void reported.push(text),
    isWatched,
    style: (_: unknown, text: string) => text,
  };
  return { drawn, reported, terminal };
};
const times = (count: number) => {
  let left = count;
  return async () => left-- > 0;
};

it("redraws in place on a terminal", async () => {
  const { drawn, terminal } = drawing(true);
  let turn = 0;
  await watch(async () => `picture ${++turn}`, { every: 1, terminal, isText: true, pause: times(2) });
  expect(drawn).toEqual([1, 2, 3].map((n) => `\u001b[H\u001b[2Jpicture ${n}`));
});

it("prints one below the other into a file", async () => {
  const { drawn, terminal } = drawing(false);
  await watch(async () => "picture", { every: 1, terminal, isText: true, pause: times(1) });
  expect(drawn).toEqual(["picture\n", "picture\n"]);
});

const failingOnce = () => {
  let turn = 0;
  return async () => {
    turn += 1;
    if (turn === 2) throw new Error("\u001b[31mthrott\nled");
    return `picture ${turn}`;
  };
};

it("continues after an error, and shows it with the last known state", async () => {
  const { drawn, terminal } = drawing(false);
  await watch(failingOnce(), { every: 1, terminal, isText: true, pause: times(2) });
  expect(drawn[1]).toBe("picture 1\n\nCould not ask: thrott led. Trying again.\n");
  expect(drawn[2]).toBe("picture 3\n");
});

it("writes nothing but what a program can read, also where that is a terminal or an answer is missing", async () => {
  const { drawn, reported, terminal } = drawing(true);
  await watch(failingOnce(), { every: 1, terminal, isText: false, pause: times(2) });
  expect(drawn).toEqual(["picture 1\n", "picture 3\n"]);
  expect(reported).toEqual(["Could not ask: thrott led. Trying again."]);
});

it("fails when the first read fails", async () => {
  const { terminal } = drawing(false);
  const failing = watch(() => Promise.reject(new Error("no")), { every: 1, terminal, isText: true });
  await expect(failing).rejects.toThrow("no");
});
