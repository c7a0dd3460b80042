import { existsSync, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runningHolder } from "../../cli/control/running.ts";
import { BadInputError, TryAgainError } from "../../lambda/core/errors.ts";
import { ControlSocket, longestRequest } from "../../local/run/control-socket.ts";
import { controlSocketIn } from "../../local/run/socket-path.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { newFolder } from "../support/new-folder.ts";

let folder: string;
let control: ControlSocket | undefined;
let log: CollectedLog;
beforeEach(() => {
  folder = newFolder();
  log = new CollectedLog();
});
afterEach(async () => {
  await control?.close();
});

const open = async (answer: (payload: unknown) => Promise<unknown>, where = folder) => {
  control = await ControlSocket.open({ folder: where, answer, log });
  return control;
};
const echo = async (payload: unknown) => ({ answered: payload });
const ask = async (payload: Readonly<Record<string, unknown>>, where = folder) =>
  (await runningHolder({ run: where }, {})).ask(payload);

/** Sends these bytes as they are; with `end: false` the request never ends. */
const send = (body: string, { method = "POST", end = true } = {}) => {
  const sent = request({ socketPath: controlSocketIn(folder), method });
  const answered = new Promise<readonly unknown[]>((resolve, reject) => {
    sent.once("error", reject).once("response", (response) => {
      const { "content-type": type, connection } = response.headers;
      text(response).then((said) => resolve([response.statusCode, type, connection, said]), reject);
    });
  });
  if (end) sent.end(body);
  else sent.flushHeaders();
  return { sent, answered };
};

describe("the control socket", () => {
  it("can be opened by its owner alone, whatever the umask", async () => {
    const umask = process.umask(0);
    await open(echo).finally(() => process.umask(umask));
    const { mode } = statSync(controlSocketIn(folder));
    expect((mode & 0o777).toString(8)).toBe("600");
  });

  it("answers requests that come together, each with its own answer", async () => {
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    await open(async (payload) => {
      if (++waiting === 20) all.resolve();
      await all.promise;
      return payload;
    });
    const requests = Array.from({ length: 20 }, (_, number) => ({ number }));
    expect(await Promise.all(requests.map((one) => ask(one)))).toEqual(requests);
  });

  it("takes the place of one that a killed holder left", async () => {
    await open(echo);
    const [path, aside] = [controlSocketIn(folder), join(folder, "aside")];
    // Closing removes the file by its name, so that under another name it stays, without a listener.
    renameSync(path, aside);
    await control?.close();
    renameSync(aside, path);
    await expect(ask({})).rejects.toThrow("no `run` is at work");

    await open(echo);
    expect(await ask({ a: 1 })).toEqual({ answered: { a: 1 } });
  });

  it("works in a folder whose path is longer than a kernel takes", async () => {
    const long = join(folder, "x".repeat(120));
    mkdirSync(long);
    await open(echo, long);
    expect(existsSync(controlSocketIn(long))).toBe(true);
    expect(await ask({ a: 1 }, long)).toEqual({ answered: { a: 1 } });
  });

  it("refuses what is not JSON, too large, cut off or no POST, and answers the next request", async () => {
    const answered: unknown[] = [];
    await open(async (payload) => answered.push(payload));
    const problem = {
      errorType: "BadInputError",
      errorMessage: "This request cannot be done: the payload must be JSON",
    };
    const refused = [400, "application/json", "close", JSON.stringify(problem)];
    expect(await send("{").answered).toEqual(refused);
    await expect(send(JSON.stringify("x".repeat(20 * longestRequest))).answered).rejects.toThrow();
    expect(await send("", { method: "GET" }).answered).toEqual([405, "application/json", "close", "{}"]);
    const cut = send("", { end: false });
    cut.sent.destroy();
    await expect(cut.answered).rejects.toThrow();
    expect(await ask({ a: 1 })).toBe(1);
    expect(answered).toEqual([{ a: 1 }]);
  });

  it.each([
    [new BadInputError("Cannot hold", ["it is paused"]), "Nothing was changed."],
    [new TryAgainError("the cluster is away"), "This may pass: try again in a moment."],
    [new Error("a bug"), "The log of `run` says more."],
  ])("reports an error, and what to do: %s", async (error, remedy) => {
    await open(() => Promise.reject(error));
    await expect(ask({})).rejects.toMatchObject({ message: error.message, remedy });
    expect(log.lines).toMatchObject([{ fields: { error } }]);
  });

  it("finishes the request under way when it is closed, waits for no other, and is gone then", async () => {
    const [arrived, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    const opened = await open(() => {
      arrived.resolve();
      return answer.promise;
    });
    send("", { end: false }).answered.catch(() => {});
    const asked = ask({});
    await arrived.promise;
    const closed = opened.close();
    await new Promise(setImmediate);
    answer.resolve("done");
    expect(await asked).toBe("done");
    await closed;
    expect(existsSync(controlSocketIn(folder))).toBe(false);
  });

  it("says what to do where it cannot be made", async () => {
    writeFileSync(join(folder, "file"), "");
    await expect(open(echo, join(folder, "file"))).rejects.toMatchObject({
      message: expect.stringContaining("a socket cannot be made in"),
      remedy: "Choose another folder by --data.",
    });
  });
});
