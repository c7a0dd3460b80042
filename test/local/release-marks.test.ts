import { writeFileSync } from "node:fs";
import { KubeConfig } from "@kubernetes/client-node";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { seconds } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { holderName, holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { RecordFile } from "../../local/run/record-file.ts";
import { endRecorded, releaseMarks } from "../../local/run/release-marks.ts";
import { RunTable, recordIn } from "../../local/run/run-table.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHold, aRecord } from "../support/builders.ts";
import { newFolder } from "../support/new-folder.ts";

let cluster: FakeKubernetesServer;
let config: KubeConfig;
const log = new CollectedLog();

beforeEach(async () => {
  cluster = await FakeKubernetesServer.start();
  config = new KubeConfig();
  config.loadFromString(cluster.kubeconfig());
  onTestFinished(() => cluster.stop());
});

type Generation = keyof typeof Karpenter;
type Marked = Readonly<{ by?: string; key?: string; label?: string; value?: string; karpenter?: Generation }>;
/** A node with a label and an annotation. */
function add(name: string, { by = holderName, value = "true", karpenter = "v1", ...more }: Marked = {}) {
  const { key = Karpenter[karpenter].annotation, label = holdId(1) } = more;
  cluster.addNode({ name, labels: { [Karpenter[karpenter].poolLabel]: "a" }, providerId: `kwok://${name}` });
  cluster.editNode(name, { labels: { [holdLabel]: label } }, holderName);
  cluster.editNode(name, { annotations: { [key]: value } }, by);
}
/** Our label, and the annotations. */
const left = () =>
  cluster
    .nodes()
    .map(parseNode)
    .map(({ name, labels = {}, annotations = {} }) => [name, labels[holdLabel], ...Object.keys(annotations)]);

describe("a release by the marks alone", () => {
  it("removes marks of every generation, under every annotation of ours, and of who is not recorded", async () => {
    add("new");
    add("old", { karpenter: "v0.31" });
    add("other", { key: "example.com/stay" });
    add("folded", { by: "ancient-changes" });
    add("folded-old", { by: "ancient-changes", karpenter: "v0.31" });
    const done = await releaseMarks({ config, log });
    expect(done).toEqual({ released: 5, kept: 0, failed: 0, left: false });
    expect(left().map(([, ...rest]) => rest)).toEqual(Array(5).fill([undefined]));
  });

  it("names the address of a cluster that does not answer, and what to check", async () => {
    await cluster.stop();
    // On a busy machine the time is over before the reason is known.
    await expect(releaseMarks({ config, log, within: seconds(1) })).rejects.toMatchObject({
      message: expect.stringMatching(/^the cluster at http:\S+ cannot be reached: ./),
      remedy: "Check the kubeconfig's server, and the network between.",
    });
  });

  it("fails at once where a person waits, and else tries again", async () => {
    cluster.fail({ kind: "reset" });
    expect(await releaseMarks({ config, log })).toMatchObject({ released: 0, failed: 0 });
    cluster.fail({ kind: "reset" });
    const failed = releaseMarks({ config, log, isTriedOnce: true });
    await expect(failed).rejects.toThrow(/^the cluster at http:\S+ cannot be reached: /);
  });

  it("leaves what users set: their annotation, beside our label or not, and their label", async () => {
    add("annotated", { by: "kubectl" });
    add("excluded", { label: "never" });
    const before = left();
    expect(await releaseMarks({ config, log })).toEqual({ released: 0, kept: 1, failed: 0, left: false });
    const [[name, , annotation] = [], excluded] = before;
    expect(left()).toEqual([[name, undefined, annotation], excluded]);
  });

  it("warns of each annotation that may be the mark, which a release that names it removes", async () => {
    const log = new CollectedLog();
    for (const name of ["a", "b"]) add(name, { key: "example.com/stay", by: "ancient-changes" });
    add("c");
    const before = left();
    expect(await releaseMarks({ config, log })).toMatchObject({ released: 1, kept: 2 });
    expect(left().slice(0, 2)).toEqual(before.slice(0, 2));
    const kept = "nodes keep their label: an annotation may be the mark, and who set it is not recorded";
    expect(log.reported(kept)).toEqual([
      {
        annotation: "example.com/stay",
        nodes: 2,
        remedy:
          "if it was the holder's holdAnnotation, release again with --hold-annotation example.com/stay",
      },
    ]);
    await releaseMarks({ config, log, annotation: "example.com/stay" });
    expect(left().map(([, ...rest]) => rest)).toEqual(Array(3).fill([undefined]));
    expect(log.reported(kept)).toHaveLength(1);
  });

  it("reports the nodes that it could not change", async () => {
    add("a");
    add("b");
    cluster.fail({ kind: "status", status: 403 }, { method: "PATCH" });
    expect(await releaseMarks({ config, log })).toMatchObject({ released: 1, failed: 1 });
  });
});

describe("the record of a run that ended", () => {
  it("ends with the release, so that the next run does not continue its hold", async () => {
    const folder = newFolder();
    const open = () => RunTable.open({ folder, clock: systemClock, log });
    const table = open();
    await new StoredHolds(table, systemClock).write(aRecord({ hold: aHold({ id: holdId(1) }) }));
    table.close();
    await endRecorded(folder, { log, reason: "the holder was stopped" });
    const ended = open();
    const record = await new StoredHolds(ended, systemClock).find(wholeCluster);
    expect(record?.released).toMatchObject({ at: expect.any(Date), because: "the holder was stopped" });
    ended.close();
  });

  it("may be missing", () => endRecorded(newFolder(), { log, reason: "x" }));

  it("may be damaged: it stays for the next run, which removes its marks", async () => {
    const folder = newFolder();
    writeFileSync(recordIn(folder), "no database, but long enough to be one ".repeat(50));
    await endRecorded(folder, { log, reason: "x" });
    const table = RunTable.open({ folder, clock: systemClock, log });
    onTestFinished(() => table.close());
    expect(table.hasLost).toBe(true);
  });

  it.each(["in use", "on a full disk"])("may be %s, which is reported", async (where) => {
    const [folder, log] = [newFolder(), new CollectedLog()];
    const table = RunTable.open({ folder, clock: systemClock, log });
    if (where === "in use") onTestFinished(() => table.close());
    else {
      table.close();
      const full = vi.spyOn(RecordFile.prototype, "put").mockImplementation(() => {
        throw new TryAgainError("the disk is full");
      });
      onTestFinished(() => full.mockRestore());
    }
    await endRecorded(folder, { log, reason: "x" });
    const unchanged = "the record could not be changed: a run that reads it may mark nodes again";
    expect(log.reported(unchanged)).toHaveLength(1);
  });
});
