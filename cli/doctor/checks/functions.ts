import { version } from "../../../lambda/version.ts";
import type { FunctionFacts } from "../aws/functions.ts";
import {
  type Check,
  type Doctor,
  type Functions,
  mostFirst,
  readLog,
  type Watched,
  watched,
} from "../doctor.ts";
import { type Found, fail, orOk, unread, warn } from "../finding.ts";

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

export const ofFunctions: readonly Check[] = [
  {
    link: "functions",
    find({ doctor, cluster, redeploy, functions }) {
      const troubles = watched.flatMap((part) => troubleOf(functions[part], part, redeploy));
      const forCluster = cluster === doctor.cluster ? "" : ` for cluster ${cluster}`;
      const ready = `hold, release, sweep and control are ready${forCluster}`;
      return orOk([...troubles, ...differences(functions)], ready);
    },
  },
  {
    link: "code",
    follows: ["functions"],
    async find({ answers, functions }) {
      const { version: deployed } = await answers.control();
      const found = await Promise.all(
        watched.map(async (part): Promise<Found | []> => {
          try {
            const { version: one } = await answers[part]();
            const other = `the control function's ${deployed}`;
            return one === deployed ? [] : fail(`the ${part} function's code is version ${one}, ${other}`);
          } catch (error) {
            const fn = functions[part];
            return unread(`${fn.name} could not be asked`, error, readLog(fn));
          }
        }),
      );
      const wrong = found.flat();
      if (deployed !== version) {
        const what = `the control function is version ${deployed}, this command line is ${version}`;
        const remedy = "Deploy again, or use the command line of that version";
        wrong.push(warn(what, `${remedy}: npx karpenter-node-holder@${deployed}`));
      }
      return orOk(wrong, `version ${version}, as this command line`);
    },
  },
];

function troubleOf(fn: FunctionFacts, part: Watched, redeploy: string): readonly Found[] {
  const { name, state, lastUpdate, reservedConcurrency } = fn;
  const free = `aws lambda delete-function-concurrency --function-name ${name} (or ${redeploy})`;
  if (reservedConcurrency === 0) return [fail(`${name} is turned off: its reserved concurrency is 0`, free)];
  if (state === "Pending" || lastUpdate === "InProgress")
    return [warn(`${name} is just being deployed`, "Check again in a minute.")];
  if (state !== "Active" && state !== "Inactive") return [fail(`${name} is ${state}`)];
  if (lastUpdate === "Failed") return [fail(`the last update of ${name} failed`)];
  // Two sweeps at once would do the same work twice, so a deployment may reserve one for it.
  if (reservedConcurrency === 1 && part !== "sweep")
    return [warn(`${name} may run once at a time: launches wait for each other, and may fail`, free)];
  return [];
}

/** All four are deployed with the same environment and network. */
function differences(functions: Functions): readonly Found[] {
  const all = Object.values(functions).map(({ name, env, inVpc }) => ({
    name,
    settings: new Map(Object.entries({ ...env, VPC: inVpc ? "yes" : "no" })),
  }));
  const names = new Set(all.flatMap(({ settings }) => [...settings.keys()]));
  return [...names].flatMap((setting) => {
    const [, ...odd] = mostFirst(all, ({ settings }) => settings.get(setting) ?? "");
    return odd.flatMap(([value, functions]) =>
      functions.map(({ name }) => fail(`${setting} of ${name} is "${value}", which differs from the others`)),
    );
  });
}
