import { describe, expect, it } from "vitest";
import { type FakeControl, failed, holder, refused } from "./fake-control.ts";

describe("a failed command", () => {
  const ask = (fake: FakeControl) => fake.run("status", "--cluster", "prdo");
  const missing = () => refused("ResourceNotFoundException", "Function not found", 404);

  it("lists the existing holders when the name is wrong", async () => {
    const { exit, reported } = await ask(await holder(missing, ["staging", "prod"]));
    expect(exit).toBe(1);
    expect(reported).toBe(
      "error: there is no holder for cluster prdo in eu-west-1\nDid you mean prod? Holders found in eu-west-1: prod, staging.",
    );
  });

  it("lists holders by the name that --cluster takes, long ones, too", async () => {
    const long = "a-rather-long-name-of-a-cluster".repeat(3);
    const { reported } = await ask(await holder(missing, ["blue for generated-1a2b3c", long]));
    expect(reported).toContain(`Holders found in eu-west-1: ${long}, blue.`);
  });

  it("is two lines, whatever names and messages from outside contain", async () => {
    const { reported } = await ask(await holder(missing, ["\u001b[32mred\nerror: all is lost"]));
    expect(reported.split("\n")).toEqual([
      "error: there is no holder for cluster prdo in eu-west-1",
      "Holders found in eu-west-1: red error: all is lost.",
    ]);
  });

  it.each(["denied", []] as const)("gives a remedy where it knows no holder: %j", async (holders) => {
    const { reported } = await ask(await holder(missing, holders));
    expect(reported).toContain(
      "\nCheck --cluster, --region and --profile, or deploy: npx cdk deploy -c cluster=prdo -c alarms=none.",
    );
  });

  it("shows the begin of an answer that is not JSON", async () => {
    const { reported } = await ask(await holder(() => ({ headers: {}, body: "x".repeat(300) })));
    const what = `error: the control function answered with something that is not JSON: ${"x".repeat(200)}`;
    expect(reported).toBe(`${what}\nIts code may have another version.`);
  });

  it.each([
    ["ExpiredTokenException", "the AWS credentials have expired", "Log in (for example"],
    ["AccessDeniedException", "no", "may not invoke karpenter-node-holder-prdo-control"],
    ["ThrottlingException", "no", "try again in a moment"],
  ])("gives a remedy for %s", async (name, what, remedy) => {
    const { exit, reported } = await ask(await holder(() => refused(name, "no", 403)));
    expect(exit).toBe(1);
    expect(reported).toContain(what);
    expect(reported).toContain(remedy);
  });

  it("reports the function's error without its stack trace", async () => {
    const failing = () => failed("BrokenSetupError", "The cluster refused the login (401)");
    const { exit, reported } = await ask(await holder(failing));
    expect(exit).toBe(1);
    expect(reported).toContain("error: The cluster refused the login (401)\nRun doctor");
    expect(reported).not.toContain("somewhere.ts");
  });

  it("reports why a request was refused, and not as a usage error", async () => {
    const refusing = () => failed("BadInputError", "Cannot hold: paused by hand: resume first");
    const { exit, reported } = await (await holder(refusing)).run("hold", "--reason", "x");
    expect(exit).toBe(1);
    expect(reported).toContain("resume first\nNothing was changed.");
  });

  it("reports another version when it cannot parse an answer", async () => {
    const { exit, reported } = await ask(await holder(() => ({ cluster: "prdo" })));
    expect(exit).toBe(1);
    expect(reported).toContain("rules must be an object");
    expect(reported).toContain("use the same for both");
  });
});
