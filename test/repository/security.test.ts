import { execFileSync } from "node:child_process";
import { copyFileSync, globSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { actions, allowed, resourcesOf, synthesize } from "../infra/synthesized.ts";
import { newFolder } from "../support/new-folder.ts";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const page = readFileSync("docs/security.md", "utf8");
const template = synthesize();

/** The rows of the table under a heading, without its head. */
const rowsUnder = (heading: string): readonly (readonly string[])[] =>
  (page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2)
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map(([, ...cells]) => cells);
const actionsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([a-z0-9]+:[A-Z]\w+)`/g)].map(([, action = ""]) => action);

describe("what the security page says of permissions in AWS", () => {
  const rows = rowsUnder("In AWS");
  const roles: Readonly<Record<string, string>> = {
    hold: "HoldRole",
    release: "ReleaseRole",
    sweep: "SweepRole",
    control: "ControlRole",
    "cluster-access": "AdminFunctionRole",
    "the provider": "AdminProviderRole",
    "the schedules' role": "ReleasesRole",
  };

  it.each(Object.entries(roles))("is all that %s may do, and no more", (who, role) => {
    const reported = rows.filter(([, , that = ""]) => that.split(", ").includes(who));
    const named = new Set(reported.flatMap(([permission = ""]) => actionsIn(permission)));
    expect([...named].sort()).toEqual(actions(allowed(template, role)));
  });

  it("speaks of every role there is, and of no other", () => {
    expect(new Set(rows.flatMap(([, , who = ""]) => who.split(", ")))).toEqual(new Set(Object.keys(roles)));
    expect(resourcesOf(template, "AWS::IAM::Role").size).toBe(Object.keys(roles).length);
  });

  it("is true of access=manual: no function that can make itself an admin", () => {
    const manual = synthesize({ access: "manual" });
    expect(JSON.stringify(manual.toJSON())).not.toMatch(/AccessPolicy|Provider|AdminFunction/);
  });
});

describe("the documented pattern for CloudTrail's events", () => {
  const pattern: unknown = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? "");
  const reported = (eventName: string, requestParameters: object) =>
    matches(pattern, {
      source: "aws.lambda",
      "detail-type": "AWS API Call via CloudTrail",
      detail: { eventSource: "lambda.amazonaws.com", eventName, requestParameters },
    });
  const fn = "karpenter-node-holder-prod-cluster-access";
  const changes = [
    "UpdateFunctionCode20150331v2",
    "UpdateFunctionConfiguration20150331v2",
    "DeleteFunction20150331",
    "CreateFunction20150331",
  ];

  it.each(changes)("reports %s of the function, by each of its names", (change) => {
    const account = "111122223333:function:";
    for (const name of [fn, `${account}${fn}`, `arn:aws:lambda:eu-west-1:${account}${fn}`])
      for (const functionName of [name, `${name}:$LATEST`])
        expect(reported(change, { functionName })).toBe(true);
  });

  it("does not report other functions, and calls that change nothing", () => {
    for (const change of changes)
      expect(reported(change, { functionName: "karpenter-node-holder-prod-hold" })).toBe(false);
    expect(reported("GetFunction20150331v2", { functionName: fn })).toBe(false);
  });

  /** As EventBridge matches: one of a field's alternatives, in every field of the pattern. */
  function matches(wanted: unknown, found: unknown): boolean {
    if (Array.isArray(wanted)) return wanted.some((one) => isAlternative(one, String(found)));
    return Object.entries(Object(wanted)).every(([field, of]) => matches(of, Object(found)[field]));
  }
  function isAlternative(wanted: unknown, found: string): boolean {
    if (typeof wanted === "string") return found === wanted;
    const { prefix, wildcard, ...others } = Object(wanted);
    expect(others).toEqual({});
    return wildcard === undefined ? found.startsWith(prefix) : matchesGlob(found, wildcard);
  }
});

describe("what the security page says that commands need", () => {
  const services: Readonly<Record<string, string>> = { eventbridge: "events", "cloudwatch-logs": "logs" };
  const clients = /\{([^{}]+)\} (?:from |= await import\()"@aws-sdk\/client-([\w-]+)"/gs;
  const inCode = (text: string): readonly string[] =>
    [...text.matchAll(clients)].flatMap(([, names = "", client = ""]) =>
      [...names.matchAll(/(?:paginate(\w+)|\b(\w+)Command)\b/g)].map(
        ([, paged, sent]) => `${services[client] ?? client}:${paged ?? sent}`,
      ),
    );

  const reported = rowsUnder("For those who operate it").flatMap((cells) => actionsIn(cells.join(" ")));

  it("is every call that the command line makes, and no other", () => {
    const files = [...globSync("cli/**/*.ts"), "lambda/aws/usable-cluster.ts"];
    const called = files.flatMap((file) => inCode(readFileSync(file, "utf8")));
    const asIam = called.map((action) => (action === "lambda:Invoke" ? "lambda:InvokeFunction" : action));
    expect([...new Set(reported)].sort()).toEqual([...new Set(asIam)].sort());
  });

  it("is every call that smoke makes, with what the page on deployments adds", () => {
    const deploying = readFileSync("docs/deploying.md", "utf8");
    const smoke = deploying.split("\n## Trying it on a real account\n")[1]?.split("\n## ")[0] ?? "";
    const called = globSync("lab/smoke/*.ts").flatMap((file) => inCode(readFileSync(file, "utf8")));
    const added = new Set(called.filter((action) => !reported.includes(action)));
    expect(actionsIn(smoke).toSorted()).toEqual([...added].sort());
  });
});

it("the security page names for each actor of its threat model the test that shows a row, or says that none does", () => {
  const rows = rowsUnder("Threat model");
  expect(rows.length).toBeGreaterThan(10);
  for (const [actor, , , shownBy = ""] of rows)
    expect(shownBy, actor).toMatch(/^(argued|\[[\w ]+\]\(\.\.\/test\/\S+\.ts\).*)$/);
});

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

  it("pins every Python package by hash", () => {
    const lists = globSync("test/real/engines/*.requirements.txt").map((file) => readFileSync(file, "utf8"));
    expect(lists.length).toBeGreaterThan(1);
    for (const list of lists)
      for (const entry of list.split(/\n(?=[\w-]+(?:\[[\w,]+\])?==)/))
        expect(entry).toContain("--hash=sha256:");
  });
});
