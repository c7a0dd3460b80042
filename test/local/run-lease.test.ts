import { beforeEach, describe, expect, it } from "vitest";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { type FakeLeases, leaseWorld } from "./lease-world.ts";

let { api, log, time, leaseOf, owner, writtenBy } = leaseWorld();
beforeEach(() => {
  ({ api, log, time, leaseOf, owner, writtenBy } = leaseWorld());
});

describe("the Lease of a run", () => {
  it("is one run's at a time: the second waits until the first gives it away", async () => {
    const [first, second] = [leaseOf("a"), leaseOf("b")];
    expect(await first.take()).toBe("taken");
    let taken: unknown;
    const taking = second.take().then((how) => {
      taken = how;
    });
    await expect
      .poll(() => log.reported("another run works on this cluster: this one waits until it ends").length)
      .toBe(1);
    expect([taken, owner()]).toEqual([undefined, "a"]);
    await first.lease.release();
    await taking;
    expect([taken, owner()]).toEqual(["taken over", "b"]);
    expect(first.lost).not.toHaveBeenCalled();
  });

  const cause = new KubernetesError("GET", 403, {});
  const notReady = new Error("it does not report itself ready", { cause });
  it("is waited for also while an API server that starts refuses everyone", async () => {
    writtenBy("a");
    const taking = leaseOf("b").take();
    await expect.poll(() => log.lines.length).toBe(1);
    api.refusal = notReady;
    await expect.poll(() => log.lines.length).toBeGreaterThan(2);
    writtenBy("", "8");
    api.refusal = undefined;
    expect([await taking, owner()]).toEqual(["taken over", "b"]);
  });

  it("is not taken as soon as an API server answers again that nobody could reach", async () => {
    writtenBy("a");
    const stop = new AbortController();
    const taking = leaseOf("b").take(stop.signal);
    await expect.poll(() => log.lines.length).toBe(1);
    api.refusal = new Error("it is away");
    time.passed = 31_000;
    await expect.poll(() => log.lines.length).toBeGreaterThan(2);
    api.refusal = undefined;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(owner()).toBe("a");
    stop.abort();
    expect(await taking).toBeUndefined();
  });

  it.each([
    [
      "when it was not renewed for its time by our own clock",
      { renewTime: "2001-01-01T00:00:00.000000Z" },
      31_000,
    ],
    [
      "within ten minutes, whatever duration somebody wrote",
      { leaseDurationSeconds: 1_000_000_000 },
      601_000,
    ],
  ])("is taken from a run that was killed %s", async (_, written, after) => {
    writtenBy("killed");
    Object.assign(api.stored?.spec ?? {}, written);
    const taking = leaseOf("b").take(AbortSignal.timeout(2_000));
    await expect.poll(() => log.lines.length).toBe(1);
    expect(owner()).toBe("killed");
    time.passed = after;
    expect([await taking, owner()]).toEqual(["taken", "b"]);
  });

  it.each([
    ["forward", 3_600_000],
    ["back", -3_600_000],
  ])("is waited for as long as ever where somebody sets the clock %s", async (_, change) => {
    writtenBy("killed");
    const stop = new AbortController();
    const taking = leaseOf("b").take(stop.signal);
    await expect.poll(() => log.lines.length).toBe(1);
    [time.ahead, time.passed] = [change, 20_000];
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(owner()).toBe("killed");
    time.passed = 31_000;
    await expect.poll(owner).toBe("b");
    stop.abort();
    await taking;
  });

  it("is at once that of a run on the same record, and renewed", async () => {
    writtenBy("a");
    await leaseOf("a").take();
    expect(log.lines).toEqual([]);
    await expect.poll(() => Number(api.stored?.metadata.resourceVersion)).toBeGreaterThan(9);
  });

  it("ends a run where another one has it now", async () => {
    const first = leaseOf("a");
    await first.take();
    writtenBy("b", "99");
    await expect.poll(() => first.lost.mock.calls.length).toBe(1);
    await first.lease.release();
    expect(owner()).toBe("b");
  });

  it.each<[string, FakeLeases["editBeforePut"]]>([
    ["its own renewal, whose answer was lost, has", (spec, sent) => Object.assign(spec, sent)],
    ["an edit of another has", (spec) => Object.assign(spec, { note: "edited" })],
  ])("stays that of a run where %s changed it", async (_, change) => {
    const first = leaseOf("a");
    await first.take();
    api.editBeforePut = change;
    await expect
      .poll(() => Number(api.stored?.metadata.resourceVersion), { interval: 5 })
      .toBeGreaterThan(52);
    expect([owner(), first.lost.mock.calls, log.lines]).toEqual(["a", [], []]);
  });

  it("is given away also where an edit comes between", async () => {
    const first = leaseOf("a");
    await first.take();
    api.editBeforePut = () => {};
    await first.lease.release();
    expect(owner()).toBe("");
  });

  it("goes to the one of two runs that takes it first", async () => {
    writtenBy("");
    api.editBeforePut = (spec) => Object.assign(spec, { holderIdentity: "b", leaseDurationSeconds: 30 });
    const stop = new AbortController();
    const taking = leaseOf("a").take(stop.signal);
    await expect.poll(() => log.lines.length).toBe(1);
    stop.abort();
    expect([await taking, owner()]).toEqual([undefined, "b"]);
  });

  it("warns once where a run that works loses the right to it", async () => {
    await leaseOf("a").take();
    const warnings = () =>
      log.lines.filter(({ sentence }) => sentence.includes("no right to a Lease")).length;
    for (const times of [1, 2]) {
      api.refusal = 403;
      await expect.poll(warnings).toBe(times);
      const version = api.stored?.metadata.resourceVersion;
      api.refusal = undefined;
      await expect.poll(() => api.stored?.metadata.resourceVersion !== version).toBe(true);
    }
    expect(warnings()).toBe(2);
  });

  it("is not waited for without the right to it, nor when the run is to stop", async () => {
    api.refusal = 403;
    expect(await leaseOf("a").take()).toBe("taken");
    expect(log.lines[0]?.sentence).toContain("no right to a Lease");
    api.refusal = undefined;
    await leaseOf("a").take();
    const stop = new AbortController();
    const waiting = leaseOf("b").take(stop.signal);
    stop.abort();
    expect(await waiting).toBeUndefined();
  });
});
