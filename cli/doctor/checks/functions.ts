import { version } from "../../../lambda/version.ts";
import type { FunctionFacts } from "../aws/aws-account.ts";
import { type Checks, type Doctor, type Functions, watched } from "../doctor.ts";
import { type Found, fail, ok, orOk, warn } from "../finding.ts";
import { ofEach } from "./inside.ts";

/** The four functions, without which nothing else can be checked. */
export async function findFunctions({ account, cluster }: Doctor): Promise<Functions | Found> {
  const found = await Promise.all(watched.map((part) => account.functionOf(part)));
  const [hold, release, sweep, control] = found;
  if (hold && release && sweep && control) return { hold, release, sweep, control };
  const missing = watched.filter((_, i) => !found[i]);
  if (missing.length < watched.length)
    return fail(`there is no ${missing.join(", ")} function for cluster ${cluster}`);
  const { message, remedy } = await account.noHolder();
  return fail(message, remedy);
}

export const ofFunctions = {
  async functions({ holder, cluster, functions }) {
    const { control, ...others } = functions;
    const wrong = [
      ...Object.values(functions).map((fn) => troubleOf(fn, fn === functions.sweep)),
      ...Object.values(others).flatMap((fn) => differences(fn, control)),
    ];
    const forCluster = cluster === holder ? "" : ` for cluster ${cluster}`;
    return orOk(wrong, `hold, release, sweep and control are ready${forCluster}`);
  },
  async code(facts) {
    const { version: ofControl } = await facts.answers.control;
    const judge = ofEach(({ version: deployed }) => {
      if (deployed !== ofControl)
        return fail(`answered as version ${deployed}, the control function as ${ofControl}`);
      if (deployed === version) return ok(`answered as version ${version}, like this command line`);
      const remedy = `Deploy again, or use the command line of that version: npx karpenter-node-holder@${deployed}`;
      return warn(`answered as version ${deployed}, this command line is ${version}`, remedy);
    });
    return judge(facts);
  },
} satisfies Checks;

function troubleOf(fn: FunctionFacts, isSweep: boolean): Found | false {
  const { name, state, lastUpdate, reservedConcurrency } = fn;
  const free = `aws lambda delete-function-concurrency --function-name ${name}`;
  if (reservedConcurrency === 0) return fail(`${name} is turned off: its reserved concurrency is 0`, free);
  if (state === "Pending" || lastUpdate === "InProgress")
    return warn(`${name} is just being deployed`, "Check again in a minute.");
  if (state !== "Active" && state !== "Inactive") return fail(`${name} is ${state}`);
  if (lastUpdate === "Failed") return fail(`the last update of ${name} failed`);
  // Two sweeps at once would do the same work twice, so a deployment may reserve one for it.
  if (reservedConcurrency !== 1 || isSweep) return false;
  return warn(`${name} may run once at a time: launches wait for each other, and may fail`, free);
}

const settingsOf = ({ env, inVpc }: FunctionFacts): Readonly<Record<string, string>> => ({
  ...env,
  VPC: inVpc ? "yes" : "no",
});

/** All four are deployed with the same environment and network. */
function differences(fn: FunctionFacts, control: FunctionFacts): readonly Found[] {
  const [here, there] = [settingsOf(fn), settingsOf(control)];
  return Object.keys({ ...there, ...here })
    .filter((name) => here[name] !== there[name])
    .map((name) =>
      fail(`${name} is "${here[name] ?? ""}" in ${fn.name}, "${there[name] ?? ""}" in ${control.name}`),
    );
}
