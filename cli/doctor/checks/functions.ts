import { version } from "../../../lambda/version.ts";
import type { FunctionFacts } from "../aws/aws-account.ts";
import { type Checks, type Doctor, type Functions, watched } from "../doctor.ts";
import { type Found, fail, isWrong, ok, orOk, unread, warn } from "../finding.ts";
import type { Inside } from "../inside.ts";

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

/** How they are deployed, and what each finds out itself: each has a role, an environment and a network of its own. */
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
  record: ofEach(({ record, write }) => {
    if (!record.works) return fail(`cannot read it: ${record.because}`);
    if (!write.works) return fail(`cannot write to it: ${write.because}`);
    return ok("can read it and write to it");
  }),
  // The release function asks EC2 nothing.
  launches: ofEach(({ launches }) => {
    if (!launches) return undefined;
    if (launches.works) return ok(`see ${launches.recent} launches of the last hour`);
    return fail(`cannot ask EC2: ${launches.because}`);
  }),
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

/**
 * What a function can do, as the rest of a sentence that begins with it: one where all that answered found the same; else
 * those of the functions that found something wrong.
 */
export function ofEach(judge: (inside: Inside) => Found | undefined): Checks[string] {
  return async ({ answers, functions }) => {
    const asked = watched.map(async (part) => {
      const unasked = (error: unknown) => unread(error, `${functions[part].name} could not be asked`);
      const one = await answers[part].then(judge, unasked);
      return one ? [{ who: `the ${part} function`, one }] : [];
    });
    const all = (await Promise.all(asked)).flat();
    const unanswered = all.flatMap(({ one }) => (one.error === undefined ? [] : [one]));
    const answered = all.filter(({ one }) => one.error === undefined);
    const isSame = new Set(answered.map(({ one }) => one.what)).size === 1;
    const wrong = isSame ? [] : answered.filter(({ one }) => isWrong(one));
    const together = answered.slice(0, 1).map(({ one }) => ({ who: "the functions", one }));
    const found = wrong.length > 0 ? wrong : together;
    return [...unanswered, ...found.map(({ who, one }) => ({ ...one, what: `${who} ${one.what}` }))];
  };
}
