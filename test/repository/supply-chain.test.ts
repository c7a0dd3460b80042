import { execFileSync } from "node:child_process";
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { newFolder } from "../support/new-folder.ts";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));

describe("what the security page says of the supply chain", () => {
  const workflows = globSync(".github/workflows/*.yml").map((file) => readFileSync(file, "utf8"));

  it("has every action pinned by commit, beside its version", () => {
    const used = workflows.flatMap((text) =>
      [...text.matchAll(/uses: (.+)/g)].map(([, action = ""]) => action),
    );
    expect(used.length).toBeGreaterThan(4);
    const others = used.filter((action) => !action.startsWith("./"));
    expect(others.filter((action) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  it("lets no job write but those that publish a release or report what they found in the code", () => {
    const writing = workflows.flatMap((text) => {
      type Rights = Readonly<Record<string, string>>;
      type Jobs = Readonly<Record<string, Readonly<{ permissions?: Rights }>>>;
      const { name, permissions, jobs }: { name: string; permissions: Rights; jobs: Jobs } = Object(
        load(text),
      );
      expect(permissions, name).toEqual({ contents: "read" });
      return Object.entries(jobs).flatMap(([job, { permissions = {} }]) =>
        Object.entries(permissions).flatMap(([right, access]) =>
          access === "read" ? [] : `${name} ${job}: ${right}`,
        ),
      );
    });
    expect(writing.toSorted()).toEqual([
      "codeql analyze: security-events",
      "release image: attestations",
      "release image: id-token",
      "release image: packages",
      "release publish: contents",
      "release publish: id-token",
      "scorecard score: security-events",
    ]);
  });

  type Step = Readonly<{
    name?: string;
    uses?: string;
    run?: string;
    with?: Readonly<Record<string, unknown>>;
  }>;
  type Job = Readonly<{ needs?: string | string[]; uses?: string; environment?: string; steps: Step[] }>;
  const jobsOf = (workflow: string): Readonly<Record<string, Job>> =>
    Object(load(readFileSync(`.github/workflows/${workflow}.yml`, "utf8"))).jobs;
  const { test, build, again, ...publishing } = jobsOf("release");

  it("publishes in protected jobs that run nothing but the publication", () => {
    const allowed = /^(test|npm publish|gh release|tar|docker login|docker buildx|helm push|echo|set)\b/;
    expect(Object.keys(publishing)).toEqual(["publish", "image"]);
    for (const { environment, steps } of Object.values(publishing)) {
      expect(environment).toBe("release");
      const actions = steps.flatMap(({ uses = "" }) => (uses ? [uses.replace(/@.*/, "")] : []));
      const known = ["setup-node", "download-artifact", "attest-build-provenance"];
      expect(actions.filter((action) => !known.includes(action.replace("actions/", "")))).toEqual([]);
      const commands = steps.flatMap(({ run = "" }) =>
        run
          .replaceAll(/\\\n +/g, "")
          .trim()
          .split("\n"),
      );
      expect(commands.filter((command) => command !== "" && !allowed.test(command))).toEqual([]);
    }
    expect(readFileSync("Dockerfile", "utf8")).not.toMatch(/^RUN/m);
  });

  it("publishes only what two machines packed alike, after all tests on that commit", () => {
    expect([test?.uses, build?.uses, again?.uses]).toEqual(
      ["ci", "pack", "pack"].map((name) => `./.github/workflows/${name}.yml`),
    );
    expect(publishing.publish?.needs).toEqual(["test", "build", "again"]);
    const compared = publishing.publish?.steps.find(({ run }) => run?.startsWith("test "))?.run;
    expect(compared).toMatch(/= "\$BUILT" && test "\$BUILT" = "\$AGAIN"$/);
    expect(jobsOf("ci").test?.steps.at(-1)?.run).toBe(".ci/run");
  });

  it("takes a file that is cut in two for another package", () => {
    const steps = [
      ...(jobsOf("pack").pack?.steps ?? []),
      ...Object.values(publishing).flatMap((job) => job.steps),
    ];
    const hashes = steps.flatMap(({ run = "" }) => /\$\(([^()]*sha256sum[^()]*)\)/.exec(run)?.[1] ?? []);
    expect([hashes.length, new Set(hashes).size]).toEqual([3, 1]);
    const hashOf = (files: Readonly<Record<string, string>>) => {
      const cwd = newFolder();
      mkdirSync(join(cwd, "release"));
      for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, "release", name), text);
      return execFileSync("bash", ["-c", hashes[0] ?? ""], { cwd }).toString();
    };
    const whole = { Dockerfile: "FROM x\nUSER y\n" };
    expect(hashOf(whole)).toBe(hashOf(whole));
    expect(hashOf({ Dockerfile: "FROM x\n", "Dockerfile.2": "USER y\n" })).not.toBe(hashOf(whole));
  });

  it("packs a commit of main, without install scripts, tests or caches", () => {
    const steps = jobsOf("pack").pack?.steps ?? [];
    const commands = steps.map(({ run = "" }) => run);
    expect(commands).toContain("npm ci --ignore-scripts");
    expect(commands).toContain('git merge-base --is-ancestor "$GITHUB_SHA" origin/main');
    expect(commands.join("\n")).not.toMatch(/npm (run )?test/);
    const inAll = [...steps, ...Object.values(publishing).flatMap((job) => job.steps)];
    expect(inAll.filter((step) => step.with && "cache" in step.with)).toEqual([]);
  });

  it("attests image and chart by their digests", () => {
    const attested = (publishing.image?.steps ?? []).filter(({ uses }) => uses?.includes("/attest-"));
    expect(attested.map((step) => step.with?.["subject-digest"])).toEqual([
      `\${{ steps.image.outputs.digest }}`,
      `\${{ steps.chart.outputs.digest }}`,
    ]);
  });

  it("has the base of the image by its digest", () => {
    const bases = readFileSync("Dockerfile", "utf8").match(/^FROM .+$/gm) ?? [];
    expect(bases.filter((line) => !/^FROM \S+@sha256:[0-9a-f]{64}$/.test(line))).toEqual([]);
    expect(bases).not.toEqual([]);
  });

  /** Runs a step of the release in a folder with the package's files, as the workflow does. */
  const runStep = (name: string, env: Readonly<Record<string, string>>) => {
    const folder = newFolder();
    for (const file of ["package.json", "README.md", "CHANGELOG.md"]) copyFileSync(file, join(folder, file));
    const { run = "" } = jobsOf("pack").pack?.steps.find((step) => step.name === name) ?? {};
    execFileSync("bash", ["-eo", "pipefail", "-c", run], { cwd: folder, env: { ...process.env, ...env } });
    return (file: string) => readFileSync(join(folder, file), "utf8");
  };

  const tagged = {
    GITHUB_SERVER_URL: "https://github.com",
    GITHUB_REPOSITORY: "octo/holder",
    GITHUB_REF_NAME: "v1.2.3",
  };

  it("publishes the package with the repository that it is built from, in place of a placeholder", () => {
    const linksOf = ({ repository, homepage, bugs }: typeof manifest) => [repository.url, homepage, bugs.url];
    const linksTo = (url: string) => [`git+${url}.git`, `${url}#readme`, `${url}/issues`];
    expect(linksOf(manifest)).toEqual(linksTo("https://github.com/OWNER/karpenter-node-holder"));

    const built = JSON.parse(runStep("The package names this repository", tagged)("package.json"));
    expect(linksOf(built)).toEqual(linksTo("https://github.com/octo/holder"));
    const { repository, homepage, bugs } = manifest;
    expect({ ...built, repository, homepage, bugs, dependencies: {} }).toEqual(manifest);
  });

  it("publishes a README whose links and pictures are those of the tag, wherever it is shown", () => {
    const published = runStep("The package names this repository", tagged)("README.md");
    const targets = [...published.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target);
    expect(targets.filter((target) => !/^(https:\/\/|#)/.test(target ?? ""))).toEqual([]);
    const page = "https://github.com/octo/holder/blob/v1.2.3/";
    const picture = "https://raw.githubusercontent.com/octo/holder/v1.2.3/";
    expect(published).toContain(`](${page}docs/deploying.md#what-it-costs)`);
    expect(published).toContain(`](${picture}docs/images/lab-costs.svg)`);
    expect(published.replaceAll(page, "").replaceAll(picture, "")).toBe(readFileSync("README.md", "utf8"));
  });

  it("publishes the notes of one version, and refuses a version without notes", () => {
    const notesOf = (version: string) =>
      runStep("The notes are those of this version", { GITHUB_REF_NAME: `v${version}` })("release/notes.md");
    const [, newest = ""] = readFileSync("CHANGELOG.md", "utf8").split(/^## .*$/m);
    expect(notesOf(manifest.version)).toBe(newest.replace(/^\n/, ""));
    expect(() => notesOf("0.0.99")).toThrow();
  });

  it("has updates proposed for every folder with a manifest, and for no other", () => {
    const manifests: Readonly<Record<string, string>> = {
      npm: "package.json",
      gomod: "{lab,test}/**/go.mod",
      pip: "{lab,test}/**/*requirements.txt",
      docker: "Dockerfile",
    };
    // The lab compares old versions of Karpenter, each with the modules of its time.
    const exclude = ["lab/days/engine/versions/**"];
    const present = Object.entries(manifests).flatMap(([ecosystem, pattern]) =>
      globSync(pattern, { exclude }).map((file) => `${ecosystem} /${dirname(file).replace(/^\.$/, "")}`),
    );
    const { updates } = Object(load(readFileSync(".github/dependabot.yml", "utf8")));
    const named = updates.map(
      (update: Readonly<Record<string, string>>) => `${update["package-ecosystem"]} ${update.directory}`,
    );
    // Of workflows it reads /.github/workflows.
    expect(new Set(named)).toEqual(new Set([...present, "github-actions /"]));
  });
});
