import { Environment, SettingEnvironment } from "../../../lambda/environment.ts";
import { version } from "../../../lambda/version.ts";
import { isDenied } from "../../aws-errors.ts";
import type { FunctionFacts } from "../aws/account.ts";
import { type Doctor, redeploy } from "../doctor.ts";
import { type Check, type Functions, type Watched, watched } from "../facts.ts";
import { type Findings, type Found, fail, ok, warn } from "../finding.ts";
import { saidBy } from "../fixes.ts";

/** The four functions, without which nothing else can be checked. */
export async function findFunctions(doctor: Doctor): Promise<Readonly<{ functions: Functions }> | Found> {
  const [hold, release, sweep, control] = await Promise.all(
    watched.map((part) => doctor.account.functionOf(part)),
  );
  if (hold && release && sweep && control) return { functions: { hold, release, sweep, control } };
  const missing = watched.filter((_, i) => ![hold, release, sweep, control][i]);
  const what = `there is no ${missing.join(", ")} function for cluster ${doctor.cluster}`;
  return fail(what, missing.length === watched.length ? await whichThen(doctor) : redeploy(doctor));
}

async function whichThen({ account, cluster }: Doctor): Promise<string> {
  const found = await account.holders();
  if (found && found.length > 0) return `Holders found here: ${found.join(", ")}.`;
  return `Check --cluster, --region and --profile, or deploy: cdk deploy -c cluster=${cluster}`;
}

export const ofFunctions: readonly Check[] = [
  {
    link: "functions",
    find({ doctor, functions }) {
      const troubles = watched.flatMap((part) => troubleOf(functions[part], part, doctor));
      const found = [...troubles, ...differences(functions, doctor)];
      return found.length > 0 ? found : ok("hold, release, sweep and control are ready");
    },
  },
  {
    link: "code",
    follows: ["functions"],
    async find(see) {
      const { inside: control } = await see.answers.control();
      const others = await Promise.all(
        watched.map(async (part): Promise<Found[]> => {
          try {
            const { inside } = await see.answers[part]();
            return inside.version === control.version ? [] : [mixed(see.doctor, part, inside, control)];
          } catch (error) {
            return [silent(see.functions[part], error)];
          }
        }),
      );
      const found = others.flat();
      return found.length > 0 ? found : codeOf(control.version);
    },
  },
  {
    link: "record",
    async find({ doctor, env }) {
      const name = env[Environment.holdTable] ?? "";
      const status = await doctor.account.tableStatus(name);
      if (status === undefined)
        return fail(`the table ${name} is gone: no hold can be recorded`, redeploy(doctor));
      if (status !== "ACTIVE") return fail(`the table ${name} is ${status}`, "Wait, then check again.");
      return ok(`table ${name}`);
    },
  },
];

function troubleOf(fn: FunctionFacts, part: Watched, doctor: Doctor): readonly Found[] {
  const { name, state, lastUpdate, reservedConcurrency } = fn;
  const free = `aws lambda delete-function-concurrency --function-name ${name} (or ${redeploy(doctor)})`;
  if (reservedConcurrency === 0) return [fail(`${name} is turned off: its reserved concurrency is 0`, free)];
  if (state === "Pending" || lastUpdate === "InProgress")
    return [warn(`${name} is just being deployed`, "Check again in a minute.")];
  if (state !== "Active" && state !== "Inactive") return [fail(`${name} is ${state}`, redeploy(doctor))];
  if (lastUpdate === "Failed") return [fail(`the last update of ${name} failed`, redeploy(doctor))];
  // Two sweeps at once would do the same work twice, so a deployment may reserve one for it.
  if (reservedConcurrency === 1 && part !== "sweep")
    return [warn(`${name} may run once at a time: launches wait for each other, and may fail`, free)];
  return [];
}

/** All four are deployed with the same environment and network. */
function differences(functions: Functions, doctor: Doctor): readonly Found[] {
  const all = Object.values(functions);
  const names = new Set(all.flatMap(({ env }) => Object.keys(env)));
  const found = [...names].flatMap((name) => {
    const odd = oddOnes(all, ({ env }) => env[name] ?? "");
    return odd.map((fn) => `${name} of ${fn.name} is "${fn.env[name] ?? ""}", which differs from the others`);
  });
  const cluster = functions.control.env[SettingEnvironment.cluster] ?? "";
  if (cluster !== "" && cluster !== doctor.cluster)
    found.unshift(`the functions work for cluster "${cluster}"`);
  const outside = oddOnes(all, ({ inVpc }) => String(inVpc));
  found.push(
    ...outside.map(({ name, inVpc }) => `${name} is ${inVpc ? "" : "not "}in the VPC, unlike the others`),
  );
  return found.map((what) => fail(what, redeploy(doctor)));
}

/** Those that have another value than most. */
function oddOnes(all: readonly FunctionFacts[], valueIn: (fn: FunctionFacts) => string) {
  const values = Map.groupBy(all, valueIn);
  const [usual] = [...values.values()].toSorted((a, b) => b.length - a.length);
  return all.filter((fn) => !usual?.includes(fn));
}

/** The functions' code has the version of this command line. */
function codeOf(answered: string): Findings {
  if (answered === version) return ok(`version ${version}, as this command line`);
  const what = `the functions are version ${answered}, this command line is ${version}`;
  const remedy = "Deploy again, or use the command line of that version";
  return warn(what, `${remedy}: npx karpenter-node-holder@${answered}`);
}

type Version = Readonly<{ version: string }>;

const mixed = (doctor: Doctor, part: Watched, one: Version, control: Version): Found =>
  fail(
    `the ${part} function's code is version ${one.version}, the control function's ${control.version}`,
    redeploy(doctor),
  );

/** A function that does not answer. */
function silent({ name }: FunctionFacts, error: unknown): Found {
  const what = `${name} could not be asked: ${saidBy(error)}`;
  if (isDenied(error)) return warn(what, "Ask for the right to invoke it.");
  return fail(what, `Read its log: aws logs tail /aws/lambda/${name} --since 10m`);
}
