import * as fs from "node:fs";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { beforeEach, describe, expect, it } from "vitest";
import { readSettings } from "../../lambda/settings.ts";
import { makeDataFolder } from "../../local/run/data-folder.ts";
import type { StartError } from "../../local/run/rights.ts";
import { startRun } from "../../local/run/run.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { newFolder } from "../support/new-folder.ts";

let folder: string;
beforeEach(() => {
  folder = join(newFolder(), "data");
});

const exists = (mode = 0o700) => {
  fs.mkdirSync(folder);
  fs.chmodSync(folder, mode);
};
const problem = () =>
  makeDataFolder(folder).then(
    () => undefined,
    ({ message, remedy }: StartError) => `${message.replace(folder, "X")}\n${remedy}`,
  );

describe("the folder of the record", () => {
  it("may be readable, and writable by the account's own group, as in a volume of a Pod", async () => {
    exists(0o2775);
    expect(await problem()).toBeUndefined();
  });

  it("is made with the folders around it, for this account alone", async () => {
    folder = join(folder, "a", "b");
    expect(await problem()).toBeUndefined();
    const modes = [folder, join(folder, "..")].map((one) => fs.statSync(one).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700]);
  });

  it.runIf(process.platform === "linux")("is refused where no folder can be made", async () => {
    folder = "/proc/no/folder";
    expect(await problem()).toMatch(/^ENOENT/);
  });

  it("is refused where others may write in it", async () => {
    exists(0o777);
    expect(await problem()).toBe(
      "the folder X cannot keep the record: others may write in it\n" +
        "Take that right away (chmod go-w), or choose another folder by --data.",
    );
  });

  it("is checked before `run` writes in it", async (test) => {
    const cluster = await FakeKubernetesServer.start();
    test.onTestFinished(() => cluster.stop());
    const config = new KubeConfig();
    config.loadFromString(cluster.kubeconfig());
    exists(0o777);
    const settings = readSettings({ cluster: "prod" });
    const started = startRun({ settings, config, folder, log: new CollectedLog() });
    await expect(started).rejects.toThrow("others may write in it");
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it.each(["record.sqlite", "record.sqlite-wal"])("is refused with a link in place of %s", async (name) => {
    exists();
    fs.symlinkSync(join(folder, "elsewhere"), join(folder, name));
    expect(await problem()).toMatch(`its ${name} is a link, which is not followed\nRemove the link, or`);
  });

  it("may have files and other links in it, and be a link itself", async () => {
    const target = newFolder();
    fs.writeFileSync(join(target, "record.sqlite"), "");
    fs.symlinkSync("/", join(target, "other"));
    fs.symlinkSync(target, folder);
    expect(await problem()).toBeUndefined();
  });

  describe.skipIf(process.getuid?.() !== 0)("when root uses it", () => {
    it("is refused where it belongs to another user, or another group may write in it", async () => {
      exists();
      fs.chownSync(folder, 1, 0);
      expect(await problem()).toContain("it belongs to another user\nUse it as that user, or");
      fs.chownSync(folder, 0, 1);
      expect(await problem()).toBeUndefined();
      fs.chmodSync(folder, 0o770);
      expect(await problem()).toContain("others may write in it");
    });

    it("is refused where it is another user's link", async () => {
      fs.symlinkSync(newFolder(), folder);
      fs.lchownSync(folder, 1, 0);
      expect(await problem()).toContain("it belongs to another user");
    });
  });
});
