import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runningHolder } from "../../cli/control/running.ts";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { PrometheusMetrics } from "../../local/metrics/prometheus.ts";
import { RecordFile } from "../../local/run/record-file.ts";
import { newFolder } from "../support/new-folder.ts";
import { goAway, RunWorld, release, settings, soon, stayHeld, untilReady } from "./run-world.ts";

const cannotWrite = () => {
  throw new TryAgainError("the disk is full");
};

/** As SQLite throws where the disk is full. */
const neverFits = () => {
  throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
};

let world: RunWorld;
beforeEach(async () => {
  world = await RunWorld.open();
});
afterEach(() => world.close());

describe("a run whose disk is full", () => {
  it("still holds, still releases what is due, and does what it is asked for", async () => {
    let ahead = 0;
    const clock = { now: () => after(new Date(), ahead) };
    const metrics = new PrometheusMetrics("prod");
    const run = await world.startHolding({ clock, metrics, settings: { ...settings, sweepEvery: 100 } });
    await untilReady(run);
    vi.spyOn(RecordFile.prototype, "put").mockImplementation(cannotWrite);
    world.joins("b");
    await expect.poll(() => world.held(), soon).toEqual(["a", "b"]);
    await expect.poll(() => run.problems, soon).toEqual(["the record cannot be written"]);
    expect(metrics.text()).toMatch(/record_write_failures_total\S+ [1-9]/);
    ahead = minutes(11);
    await expect.poll(() => world.held(), soon).toEqual([]);

    ahead = 0;
    const { ask } = await runningHolder({ run: world.folder }, {});
    await ask({ do: "hold", for: "5m", reason: "test" });
    expect(world.held()).toEqual(["a", "b"]);
    await ask({ do: "release" });
    await run.stop({ release: true });
    expect(world.held()).toEqual([]);
  });

  it.each([
    ["its record", () => vi.spyOn(RecordFile.prototype, "put").mockImplementation(cannotWrite)],
    ["a new record", () => vi.spyOn(DatabaseSync.prototype, "exec").mockImplementation(neverFits)],
  ])("starts without room for %s, and writes everything as soon as there is room", async (_, fill) => {
    const full = fill();
    const run = await world.startHolding({ settings: { ...settings, sweepEvery: 100 } });
    expect(run.problems).toContain("the record cannot be written");
    full.mockRestore();
    await untilReady(run);
    expect(world.log.reported("the record is on the disk again")).toHaveLength(1);
    await run.stop();
    const { timeline } = await world.start();
    expect(timeline.events[0]).toMatchObject({ kind: "hold started", scope: "cluster" });
  });
});

describe("a run whose record is damaged", () => {
  it.each([
    ["is no database", () => "x".repeat(5_000)],
    [
      "is damaged inside",
      (file: string) => readFileSync(file, "latin1").replaceAll(/(?<=^.{4096}).*/gs, "x".repeat(9_000)),
    ],
  ])("puts it aside where it %s, and removes the marks that it held", async (_, damage) => {
    await (await world.startHolding()).stop();
    const file = join(world.folder, "record.sqlite");
    writeFileSync(file, damage(file), "latin1");
    // It is older than a launch that would hold.
    const clock = { now: () => after(new Date(), minutes(11)) };
    const run = await world.start({ clock });
    expect(world.held()).toEqual([]);
    const [{ lost } = {}] = world.log.reported(
      "the record is damaged: it was put aside, and a new one begins",
    );
    expect(existsSync(String(lost))).toBe(true);
    const { ask } = await runningHolder({ run: world.folder }, {});
    expect(await ask({ do: "status" })).toMatchObject({ scopes: [] });
    await run.stop();
  });

  it("removes the marks that it held also where the start that put it aside failed", async () => {
    await (await world.startHolding()).stop();
    writeFileSync(join(world.folder, "record.sqlite"), "x".repeat(5_000));
    goAway();
    await expect(world.start()).rejects.toThrow("cannot be reached");
    vi.restoreAllMocks();
    await world.start({ clock: { now: () => after(new Date(), minutes(11)) } });
    expect(world.held()).toEqual([]);
  });
});

describe("a run whose record is gone, as with a Pod that has moved", () => {
  it("holds on for a young launch", async () => {
    await (await world.startHolding()).stop();
    world.folder = newFolder();
    await world.start({ takeOver: true });
    await expect.poll(() => world.held(), soon).toEqual(["a"]);
  });
});

describe("a run that stops", () => {
  it("sees nothing more, and says how many nodes stay held, until when, and what releases them", async () => {
    const run = await world.startHolding();
    await run.stop();
    expect(world.log.reported(stayHeld)).toEqual([{ nodes: 1, until: expect.any(Date), release }]);
    world.joins("b");
    await world.roundTrip();
    expect(run.timeline.events.filter(({ kind }) => kind === "node joined")).toHaveLength(1);
    expect(run.problems).toEqual(["the holder is starting or stopping"]);
  });

  it("releases everything when it is asked to", async () => {
    await (await world.startHolding()).stop({ release: true });
    expect(world.held()).toEqual([]);
    expect(world.log.reported(stayHeld)).toEqual([]);
  });

  const refusePatches = () => world.cluster.fail({ kind: "status", status: 403 }, { method: "PATCH" }, 100);
  it.each([
    ["a node cannot be changed", refusePatches, 1],
    ["the API is away", goAway, "unknown"],
  ])("fails to release where %s, and says what stays held, also past its time", async (_, prepare, count) => {
    let ahead = 0;
    const run = await world.startHolding({ clock: { now: () => after(new Date(), ahead) } });
    prepare();
    ahead = hours(1);
    await expect(run.stop({ release: true })).rejects.toThrow();
    expect(world.log.reported(stayHeld)).toEqual([{ nodes: count, until: expect.any(Date), release }]);
  });
});
